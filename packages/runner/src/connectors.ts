// Entry `@holdfast/runner/connectors`: tools that reach outside: HTTP, key-value, SQL, shell.
export {};
