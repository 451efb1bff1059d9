/** Parses the command line into one command, or throws an error of one line. */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { CommandIo } from "../terminal/index.ts";
import { type ApprovalOptions, databaseFrom, UsageError, type WorkOptions } from "../work/index.ts";
import { type DatabaseTask, type DatabaseValues, readDatabaseTask } from "./database-task.ts";
import { type EvalValues, readEvalOptions } from "./eval-options.ts";
import { readApprovals, readChanging } from "./permission-options.ts";
import { type ProjectCommand, type ProjectCommandName, readProjectCommand } from "./project-options.ts";
import { checkProjectClients, readServeOptions, type ServeOptions } from "./serve-options.ts";
import { readServer, type ServerAddress } from "./server-address.ts";
import { checkNoAgent, givenProject, readWorkerOptions, type WorkerOptions } from "./worker-options.ts";

/** Options of all commands: the database and the output format. */
interface Common {
	/** Absolute path of the database. */
	readonly db: string;
	/** The given path, repeated in hints; undefined for the default. */
	readonly dbGiven: string | undefined;
	readonly json: boolean;
}

/** A parsed command line. */
export type Command =
	| ({
			readonly name: "run";
			readonly task: string | undefined;
			/** Whether to read all of standard input; a `-` among the arguments requests it. */
			readonly readsInput: boolean;
			readonly session: string | undefined;
	  } & Common &
			WorkOptions &
			ApprovalOptions)
	| ({
			readonly name: "chat";
			readonly session: string | undefined;
			/** Whether to write line by line, without redrawing. */
			readonly plain: boolean;
			readonly yes: boolean;
	  } & Common &
			WorkOptions)
	| ({ readonly name: "acp" } & Common & WorkOptions)
	| ({ readonly name: "resume"; readonly session: string | undefined } & Common &
			WorkOptions &
			ApprovalOptions)
	| ({
			readonly name: "worker";
			/** Absolute path of a module that exports an agent; undefined for the built-in assistant. */
			readonly agent: string | undefined;
			/** Whether to stop when no work is due. */
			readonly once: boolean;
			/** Milliseconds that runs in flight get to finish after a signal. */
			readonly drain: number;
	  } & WorkerOptions &
			Common)
	| ({ readonly name: "db"; readonly task: DatabaseTask } & Common)
	| ({ readonly name: "release"; readonly session: string } & Common & WorkOptions & ApprovalOptions)
	| ({ readonly name: "serve"; readonly project: string | undefined } & ServeOptions &
			Pick<WorkOptions, "dir" | "model" | "allowNetwork"> &
			Common)
	| ({
			readonly name: "fork";
			readonly session: string;
			readonly to: string;
			/** Id of the run to fork after; undefined for the last completed one. */
			readonly at: string | undefined;
	  } & Common)
	| ({
			readonly name: "eval";
			/** Absolute path of a module that exports scenarios. */
			readonly file: string;
			readonly repetitions: number;
			readonly concurrency: number;
			/** Absolute path of an earlier report to compare with. */
			readonly baseline: string | undefined;
			/** How much worse a metric may become, as a fraction of the baseline. */
			readonly tolerance: number;
			/** Absolute path to write the report to. */
			readonly save: string | undefined;
	  } & Common)
	| (ProjectCommand & Common)
	| ({ readonly name: "sessions" } & Common)
	| ({ readonly name: "show"; readonly session: string } & Common)
	| ({
			readonly name: "context";
			readonly session: string;
			/** The running server that has the session; undefined for the database. */
			readonly server: ServerAddress | undefined;
	  } & Common)
	| { readonly name: "help"; readonly topic: string | undefined }
	| { readonly name: "version" };

const options = {
	dir: { type: "string" },
	session: { type: "string" },
	db: { type: "string" },
	model: { type: "string" },
	"allow-network": { type: "boolean" },
	"allow-write": { type: "boolean" },
	"allow-shell": { type: "boolean" },
	"allow-command": { type: "string", multiple: true },
	yes: { type: "boolean" },
	plain: { type: "boolean" },
	approve: { type: "string", multiple: true },
	deny: { type: "string", multiple: true },
	reason: { type: "string" },
	json: { type: "boolean" },
	agent: { type: "string" },
	models: { type: "string" },
	once: { type: "boolean" },
	drain: { type: "string" },
	at: { type: "string" },
	full: { type: "boolean" },
	force: { type: "boolean" },
	"older-than": { type: "string" },
	"fold-older-than": { type: "string" },
	keep: { type: "string" },
	"dry-run": { type: "boolean" },
	port: { type: "string" },
	host: { type: "string" },
	cors: { type: "string", multiple: true },
	"api-key": { type: "string", multiple: true },
	"allow-unauthenticated": { type: "boolean" },
	"peer-header": { type: "string" },
	"max-streams": { type: "string" },
	"clients-may-set": { type: "string", multiple: true },
	clients: { type: "string" },
	"no-inspector": { type: "boolean" },
	repetitions: { type: "string" },
	concurrency: { type: "string" },
	baseline: { type: "string" },
	tolerance: { type: "string" },
	save: { type: "string" },
	project: { type: "string" },
	server: { type: "string" },
	name: { type: "string" },
	out: { type: "string" },
	release: { type: "string" },
	effect: { type: "string", multiple: true },
	endpoint: { type: "string", multiple: true },
	help: { type: "boolean", short: "h" },
	version: { type: "boolean", short: "v" },
} as const;

type OptionName = keyof typeof options;

const look: readonly OptionName[] = ["dir", "db", "model", "allow-network", "json"];
const changing: readonly OptionName[] = ["allow-write", "allow-shell", "allow-command"];
const work: readonly OptionName[] = [...look, ...changing, "yes", "agent"];

/** The options of each command. */
const known: Readonly<Record<string, readonly OptionName[]>> = {
	run: [...work, "session"],
	chat: ["dir", "db", "model", "allow-network", ...changing, "yes", "agent", "session", "plain"],
	acp: ["dir", "db", "model", "allow-network", ...changing, "agent"],
	resume: [...work, "approve", "deny", "reason"],
	worker: ["agent", "models", "project", "db", "json", "once", "drain"],
	release: work,
	serve: [
		...look,
		"agent",
		"models",
		"project",
		"drain",
		"port",
		"host",
		"cors",
		"api-key",
		"allow-unauthenticated",
		"peer-header",
		"max-streams",
		"clients-may-set",
		"clients",
		"no-inspector",
	],
	fork: ["db", "json", "at"],
	eval: ["json", "repetitions", "concurrency", "baseline", "tolerance", "save"],
	init: ["json", "project"],
	check: ["json", "project"],
	dev: ["json", "db", "port", "host", "project"],
	pack: ["json", "dir", "project", "name", "out", "release", "effect", "endpoint"],
	unpack: ["json", "dir", "project"],
	sessions: ["db", "json"],
	show: ["db", "json"],
	context: ["db", "json", "server", "api-key"],
	db: ["db", "json", "full", "force", "older-than", "fold-older-than", "keep", "dry-run"],
	help: [],
};

/** Returns advice about an option that a command does not have. */
function adviceFor(name: string, option: OptionName): string {
	if (option === "dir" && known[name]?.includes("project") === true)
		return `Give the folder of a project as: holdfast ${name} DIR, or --project DIR.`;
	if (name === "dev" && known.serve?.includes(option) === true)
		return "dev serves a project only to you. To serve it to others: holdfast serve DIR.";
	return `See: holdfast ${name} --help.`;
}

const defaultDatabase = ".holdfast/holdfast.db";

/**
 * Parses the arguments after the program's name.
 * @throws UsageError with one line: what is wrong and what to do.
 */
export function parseCommand(
	argv: readonly string[],
	io: Pick<CommandIo, "folder" | "environment">,
): Command {
	const { values, positionals } = parse(argv);
	const [name, ...rest] = positionals;
	if (values.help === true || name === "help")
		return { name: "help", topic: topicOf(name === "help" ? rest[0] : name) };
	if (values.version === true) return { name: "version" };
	if (name === undefined) return { name: "help", topic: undefined };
	const allowed = known[name];
	if (allowed === undefined)
		throw new UsageError(
			`There is no command "${name}". Commands: run, chat, resume, release, fork, worker, serve, acp, eval, sessions, show, context, db; init, dev, check, pack, unpack. To ask something: holdfast run "${name.includes(" ") ? name : "your task"}".`,
		);
	for (const option of Object.keys(values) as OptionName[])
		if (!allowed.includes(option))
			throw new UsageError(`"holdfast ${name}" has no option --${option}. ${adviceFor(name, option)}`);
	for (const [option, value] of Object.entries(values))
		if ([value].flat().includes("")) throw new UsageError(`The option --${option} needs a value.`);
	const base = folderOfCaller(io);
	const common: Common = {
		db: values.db === undefined ? resolve(io.folder, defaultDatabase) : databaseFrom(base, values.db),
		dbGiven: values.db,
		json: values.json === true,
	};
	const agent = values.agent === undefined ? undefined : resolve(base, values.agent);
	const how: Pick<WorkOptions, "dir" | "model" | "allowNetwork"> = {
		dir: values.dir === undefined ? undefined : resolve(base, values.dir),
		model: values.model,
		allowNetwork: values["allow-network"],
	};
	const approvals = readApprovals(values);
	const mayChange = readChanging(values);
	const mayWrite = { ...mayChange, agent, ...approvals };
	if (name === "run") {
		const words = rest.filter((word) => word !== "-");
		const readsInput = words.length < rest.length;
		const task = words.length === 0 ? undefined : words.join(" ").trim();
		if (task === "") throw new UsageError('The task is empty. Give a task: holdfast run "your task".');
		return { name, task, readsInput, session: values.session, ...common, ...how, ...mayWrite };
	}
	if (name === "db") return { name, task: readDatabaseTask(rest, values, base), ...common };
	if (name === "eval") return { name, ...readEvalOptions(rest, values, base), ...common };
	if (isProjectCommand(name))
		return { ...readProjectCommand(name, rest, values, { base, environment: io.environment }), ...common };
	if (name === "fork") {
		const [session, to] = rest;
		if (!session || !to || rest.length > 2)
			throw new UsageError('"holdfast fork" takes two session keys: holdfast fork KEY NEWKEY.');
		return { name, session, to, at: values.at, ...common };
	}
	const takes = {
		resume: "one session key",
		show: "one session key",
		context: "one session key",
		release: "one session key",
		serve: "one project",
		worker: "one project",
	};
	const wanted = Object.hasOwn(takes, name) ? takes[name as keyof typeof takes] : undefined;
	const limit = wanted === undefined ? 0 : 1;
	if (rest.length > limit)
		throw new UsageError(`"holdfast ${name}" takes ${wanted ?? "no arguments"}; remove "${rest[limit]}".`);
	if (name === "chat") {
		const { session, plain = false, yes = false } = values;
		return { name, session, plain, yes, ...common, ...how, ...mayChange, agent };
	}
	if (name === "acp") return { name, ...common, ...how, ...mayChange, agent };
	if (name === "resume") return { name, session: rest[0], ...common, ...how, ...mayWrite };
	if (name === "sessions") return { name, ...common };
	if (name === "worker") {
		return {
			name,
			...readWorkerOptions(rest[0], values, { base, environment: io.environment }),
			once: values.once === true,
			...common,
			...readStore(values, io.environment, base),
		};
	}
	if (name === "serve") {
		const read = readServeOptions(values, io.environment);
		const project = givenProject(name, rest[0], values) ?? (io.environment.HOLDFAST_PROJECT || undefined);
		if (project !== undefined) {
			checkNoAgent(read);
			checkProjectClients(read);
		}
		const theAssistants = (["dir", "model", "allow-network"] as const).find(
			(option) => values[option] !== undefined,
		);
		if ((read.agent ?? project) !== undefined && theAssistants !== undefined)
			throw new UsageError(
				`The option --${theAssistants} applies only to the assistant: ${project ?? `the agent of ${read.agent}`} has its own settings. Omit one of them.`,
			);
		return {
			name,
			...read,
			...how,
			...common,
			...readStore(values, io.environment, base),
			agent: read.agent === undefined ? undefined : resolve(base, read.agent),
			models: read.models === undefined ? undefined : resolve(base, read.models),
			project: project === undefined ? undefined : resolve(base, project),
		};
	}
	if (rest[0] === undefined)
		throw new UsageError(`Which session? Give its key: holdfast ${name} KEY. See: holdfast sessions.`);
	if (name === "release") return { name, session: rest[0], ...common, ...how, ...mayWrite };
	return name === "context"
		? { name, session: rest[0], server: readServer(values, io.environment), ...common }
		: { name: "show", session: rest[0], ...common };
}

type Values = DatabaseValues &
	EvalValues &
	Partial<Record<"dir" | "session" | "db" | "model" | "agent" | "drain" | "at" | "port" | "host", string>> &
	Partial<
		Record<"reason" | "server" | "peer-header" | "max-streams" | "clients" | "project" | "models", string>
	> &
	Partial<Record<"cors" | "api-key" | "clients-may-set" | "approve" | "deny" | "allow-command", string[]>> &
	Partial<
		Record<
			| "allow-network"
			| "allow-write"
			| "allow-shell"
			| "yes"
			| "plain"
			| "allow-unauthenticated"
			| "no-inspector"
			| "json"
			| "once"
			| "help"
			| "version",
			boolean
		>
	>;

function parse(argv: readonly string[]): { values: Values; positionals: string[] } {
	try {
		return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
	} catch (error) {
		// The first sentence is sufficient; Node's advice about dashes would only distract.
		const [first = "The command line cannot be read"] = (error as Error).message.split(/\.\s|\n/);
		const name = argv.find((word) => known[word] !== undefined && word !== "help");
		const help = name === undefined ? "--help" : `${name} --help`;
		throw new UsageError(`${first.replace(/\.$/, "")}. See: holdfast ${help}.`);
	}
}

/** Reads the database of servers and workers, if given, and how long they drain. */
function readStore(
	values: Values,
	{ HOLDFAST_DB, HOLDFAST_DRAIN }: Readonly<Record<string, string | undefined>>,
	base: string,
): Partial<Common> & { readonly drain: number } {
	const db = values.db ?? (HOLDFAST_DB || undefined);
	const drain = readSeconds(values.drain ?? (HOLDFAST_DRAIN || "10"));
	return db === undefined ? { drain } : { drain, db: databaseFrom(base, db), dbGiven: db };
}

/** Parses seconds of an option; returns milliseconds. */
function readSeconds(given: string): number {
	const seconds = Number(given);
	if (!(seconds >= 0 && seconds < 2_000_000))
		throw new UsageError(`The option --drain takes a number of seconds, not "${given}".`);
	return seconds * 1_000;
}

function isProjectCommand(name: string): name is ProjectCommandName {
	return ["init", "check", "dev", "pack", "unpack"].includes(name);
}

function topicOf(name: string | undefined): string | undefined {
	if (name === undefined || name === "help") return undefined;
	if (known[name] === undefined) throw new UsageError(`There is no command "${name}". See: holdfast --help.`);
	return name;
}

/** The folder that relative paths refer to: the caller's, because npm changes into the package's folder. */
function folderOfCaller({ folder, environment }: Pick<CommandIo, "folder" | "environment">): string {
	return environment.npm_lifecycle_event === "start" ? (environment.INIT_CWD ?? folder) : folder;
}
