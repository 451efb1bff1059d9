// Entry point `@holdfast/runner/connectors`: tools that access external resources: HTTP, key-value, SQL, shell.
export {
	type Connector,
	type HttpConnectorOptions,
	type HttpMethod,
	httpConnector,
	type KvConnectorOptions,
	kvConnector,
	type PostgresConnection,
	type PostgresDriverOptions,
	type PostgresQuery,
	postgresDriver,
	type ShellConnectorOptions,
	type SqlConnectorOptions,
	type SqlDriver,
	type SqliteDriverOptions,
	type SqlRows,
	type SqlStatement,
	type SqlValue,
	shellConnector,
	sqlConnector,
	sqliteDriver,
} from "./connectors/index.ts";
export type { RunnerToolContext, ToolMeta, ToolOutput } from "./contract/index.ts";
