// Logs when calls of an agent start, end and fail.
import { checkOptions, HoldfastError, type Message, optionNames } from "@holdfast/upp";
import { type Clock, systemPorts } from "../../host/index.ts";
import type { GenerateResult } from "../../state/index.ts";
import { transcript } from "../summaries/transcript.ts";
import type { Middleware, MiddlewareContext } from "./middleware-face.ts";

const levels = ["debug", "info", "warn", "error"] as const;

/** The severity of a log entry. */
export type LogLevel = (typeof levels)[number];

/** The data of an entry. */
export interface LogEntry {
	/** The severity. */
	readonly level: LogLevel;
	/** The moment that is logged. */
	readonly event: "started" | "step" | "completed" | "failed";
	readonly agentId: string;
	/** The agent's name, if it has one. */
	readonly agentName?: string;
	/** Milliseconds since the start, unless timing is disabled. */
	readonly duration?: number;
	/** The number of the step; when the call has completed, of the last one. */
	readonly step?: number;
	/** Tokens so far; when the call has completed, all of its tokens. */
	readonly totalTokens?: number;
	/** The error, for the event `failed`. */
	readonly error?: Error;
	/** If messages are enabled: the input at the start, the messages of the turn at its end. */
	readonly messages?: readonly Message[];
}

/** Receives a readable line, and the same as data. */
export type LogFunction = (line: string, entry: LogEntry) => void;

/** A logger with a method for each level that accepts data and a line, like pino's. */
export interface LogObject {
	/** Logs each step. */
	debug(entry: LogEntry, line: string): void;
	/** Logs the start and the end of a call. */
	info(entry: LogEntry, line: string): void;
	/** Required, although nothing is logged at this level. */
	warn(entry: LogEntry, line: string): void;
	/** Logs a failed call. */
	error(entry: LogEntry, line: string): void;
}

/** Options of `logging`. */
export interface LoggingOptions {
	/** The minimum level of logged entries; `debug` also logs every step. Default "info". */
	readonly level?: LogLevel;
	/** A function, or a logger with pino-style methods. Default: lines go to `console.log`. */
	readonly logger?: LogFunction | LogObject;
	/** Whether to log messages. Default false, because conversations are private. */
	readonly includeMessages?: boolean;
	/** Whether to log durations. Default true. */
	readonly includeTiming?: boolean;
	/** The clock. Default: the system's. */
	readonly clock?: Pick<Clock, "monotonic">;
}

const loggingNames = optionNames<LoggingOptions>({
	level: true,
	logger: true,
	includeMessages: "flag",
	includeTiming: "flag",
	clock: "object",
});

/**
 * Logs the start and the end of every call at `info`, and failures at `error`.
 *
 * @throws HoldfastError `invalid_option` for an unknown level, or a logger that lacks a method.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: openai("gpt-5.2"), middleware: [logging({ level: "debug" })] });
 */
export function logging(options: LoggingOptions = {}): Middleware {
	checkOptions(options, loggingNames, { of: "logging()" });
	const level = options.level ?? "info";
	if (!levels.includes(level)) {
		throw new HoldfastError(
			"invalid_option",
			`The level "${String(level)}" is unknown. Give one of ${levels.join(", ")}.`,
		);
	}
	const write = writerOf(options.logger);
	const { includeMessages = false, includeTiming = true, clock = systemPorts.clock } = options;
	const started = new WeakMap<object, number>();
	const log = (context: MiddlewareContext, said: Omit<LogEntry, "agentId">): void => {
		if (levels.indexOf(said.level) < levels.indexOf(level)) return;
		const { id, name } = context.agent;
		const since = started.get(context.metadata);
		const { messages, ...rest } = said;
		const entry: LogEntry = {
			...rest,
			agentId: id,
			...(name === undefined ? {} : { agentName: name }),
			...(includeTiming && since !== undefined && said.event !== "started"
				? { duration: clock.monotonic() - since }
				: {}),
			...(includeMessages && messages !== undefined ? { messages } : {}),
		};
		write(lineOf(entry), entry);
	};
	return {
		name: "logging",
		before(context) {
			started.set(context.metadata, clock.monotonic());
			log(context, { level: "info", event: "started", messages: [context.input] });
		},
		after(context, result) {
			log(context, { level: "info", event: "completed", ...summaryOf(result) });
			return result;
		},
		onError(context, error) {
			log(context, { level: "error", event: "failed", error });
		},
		...(level === "debug"
			? {
					stop(context: MiddlewareContext, { step, usage }: GenerateResult["state"]): boolean {
						const tokens = usage === undefined ? {} : { totalTokens: usage.totalTokens };
						log(context, { level: "debug", event: "step", step, ...tokens });
						return false;
					},
				}
			: {}),
	};
}

function summaryOf({ turn, state }: GenerateResult): Pick<LogEntry, "step" | "totalTokens" | "messages"> {
	return { step: state.step, totalTokens: turn.usage.totalTokens, messages: turn.messages };
}

function writerOf(logger: LoggingOptions["logger"]): LogFunction {
	// Looked up for each line, so that a later replacement takes effect.
	if (logger === undefined) return (line) => console.log(line);
	if (typeof logger === "function") return logger;
	const missing = levels.find((name) => typeof logger?.[name] !== "function");
	if (missing !== undefined) {
		throw new HoldfastError(
			"invalid_option",
			`The logger has no method \`${missing}\`. Give a function, or an object with ${levels.join(", ")}.`,
		);
	}
	return (line, entry) => logger[entry.level](entry, line);
}

/** `[info] agent clerk completed in 12 ms, step 2, 345 tokens` */
function lineOf(entry: LogEntry): string {
	const { level, event, agentName, agentId, duration, step, totalTokens, error, messages } = entry;
	const details = [
		step === undefined ? "" : `step ${step}`,
		totalTokens === undefined ? "" : `${totalTokens} tokens`,
	].filter((detail) => detail !== "");
	const took =
		duration === undefined ? "" : `${event === "step" ? " after" : " in"} ${Math.round(duration)} ms`;
	const head = `[${level}] agent ${agentName ?? agentId} ${event}${took}`;
	const why = error === undefined ? "" : `: ${error.message}`;
	const said = messages === undefined ? "" : `\n${transcript(messages)}`;
	return `${[head, ...details].join(", ")}${why}${said}`;
}
