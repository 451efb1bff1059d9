// Entry point of the connectors.
export type { Connector } from "./connector.ts";
export { type HttpConnectorOptions, type HttpMethod, httpConnector } from "./http-connector.ts";
export { type KvConnectorOptions, kvConnector } from "./kv-connector.ts";
export {
	type PostgresConnection,
	type PostgresDriverOptions,
	type PostgresQuery,
	postgresDriver,
} from "./postgres-driver.ts";
export { type ShellConnectorOptions, shellConnector } from "./shell-connector.ts";
export { type SqlConnectorOptions, sqlConnector } from "./sql-connector.ts";
export type { SqlDriver, SqlRows, SqlStatement, SqlValue } from "./sql-driver.ts";
export { type SqliteDriverOptions, sqliteDriver } from "./sqlite-driver.ts";
