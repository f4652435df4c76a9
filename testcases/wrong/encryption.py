"""Wrong devices of `suites/encryption`, and how they are noticed."""

from replacing import Wrong

ENCRYPTOR = "std.devices.sitline"

WRONG = [
    Wrong(
        "encryption.in_the_clear",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=1_500",
            "a_misinserted_cell_garbles_the_rest_of_the_interval:number=1_500",
            "a_burst_of_losses:oam=3",
            "connections_are_independent",
            "policing_of_oam_cells:oam_policing=joint",
        ),
        {"garbled", "nobody_gets_them", "the_rest_is_decrypted", "all_or_nothing"},
    ),
    Wrong(
        "encryption.deaf",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "all_are_decrypted",
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=3_000",
            "connections_are_independent",
            "policing_of_oam_cells:oam_policing=separate",
        ),
        {"none_lost", "none_garbled", "garbled", "untouched", "all_or_nothing"},
    ),
    Wrong(
        "encryption.half_as_often",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=1_500",
            "connections_are_independent",
        ),
        {"garbled", "the_rest_is_decrypted"},
    ),
    Wrong(
        "encryption.slow_cipher",
        ENCRYPTOR,
        "synchronisation.qos",
        ("all_are_decrypted",),
        {"as_fast", "as_even"},
    ),
]
