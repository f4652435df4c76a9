/* A unit behind a number, such as `kbit/s`: letters on the same line that are no keyword. */
#include "tree_sitter/parser.h"
#include <string.h>
#include "keywords.h" /* made by editors/tree_sitter.py */

enum TokenType { UNIT };

void *tree_sitter_qos_external_scanner_create(void) { return NULL; }
void tree_sitter_qos_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_qos_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_qos_external_scanner_deserialize(void *payload, const char *buffer,
                                                  unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

static bool is_letter(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == 0xB5 || c == 0x3BC;
}

static bool is_behind(int32_t c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

/* Takes letters; returns whether there are any, and they are no keyword. */
static bool take_word(TSLexer *lexer) {
  char word[16] = "";
  unsigned length = 0;
  while (is_letter(lexer->lookahead)) {
    if (length < sizeof word - 1) word[length] = (char)lexer->lookahead;
    length++;
    lexer->advance(lexer, false);
  }
  if (length >= sizeof word) return false;
  for (unsigned i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++)
    if (strcmp(word, KEYWORDS[i]) == 0) return false;
  return length > 0;
}

bool tree_sitter_qos_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  if (!valid[UNIT]) return false;
  while (lexer->lookahead == ' ' || lexer->lookahead == '	') lexer->advance(lexer, true);
  lexer->result_symbol = UNIT;
  if (lexer->lookahead == '%') {
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    return true;
  }
  if (!take_word(lexer)) return false;
  lexer->mark_end(lexer);
  bool ends = !is_behind(lexer->lookahead);
  if (lexer->lookahead == '/') {
    lexer->advance(lexer, false);
    if (is_letter(lexer->lookahead)) {
      while (is_letter(lexer->lookahead)) lexer->advance(lexer, false);
      if (!is_behind(lexer->lookahead)) lexer->mark_end(lexer);
    }
  }
  return ends;
}
