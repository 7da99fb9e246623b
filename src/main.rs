//! The `svc-guard` program: hands the command line to [`svc_guard::cli`] and turns a refusal into exit 2.

use std::process::ExitCode;

fn main() -> ExitCode {
    svc_guard::cli::main()
}
