// Entry `@holdfast/runner/safety`: policy, redaction and audit.
export {};
