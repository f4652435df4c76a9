// Starts `qos lsp` for .qos files, and for YAML files: the server answers only for those of qospec.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("qospec").get("command");
  const server = { command, args: ["lsp"] };
  const files = { documentSelector: [{ language: "qos" }, { language: "yaml" }] };
  client = new LanguageClient("qospec", "qospec", server, files);
  return client.start();
};

exports.deactivate = () => client?.stop();
