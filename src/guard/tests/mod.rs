//! Tests of the core, one idea a file.

// JSON handed over by value reads best in a test.
#![allow(clippy::needless_pass_by_value)]

mod fixture;

mod adversary;
mod alerts;
mod builder;
mod cancels;
mod cheap;
mod closing_price;
mod codes;
mod collar;
mod cover_definition;
mod cover_kept;
mod covering;
mod covering_line;
mod crashing;
mod days;
mod discrepancies;
mod early_ledger;
mod emptied;
mod ended_lines;
mod events;
mod exits;
mod flattening;
mod flowing;
mod following_stops;
mod given_up;
mod golden;
mod halting;
mod head;
mod headroom;
mod held_back;
mod if_away;
mod in_flight;
mod keeping_flat;
mod leverage;
mod live;
mod marks;
mod misbehaving;
mod modes;
mod modifies;
mod moves;
mod once;
mod opened_anew;
mod over_limit;
mod paper;
mod properties;
mod protecting;
mod realised;
mod record_cost;
mod recovering;
mod regrouping;
mod seen_twice;
mod settling;
mod signer;
mod simulation;
mod sizes;
mod stops;
mod told_fills;
mod turned;
mod two_clients;
mod windfall;
mod wire;
mod world;
