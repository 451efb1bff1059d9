// The default parts of threads, over one host.
import { after } from "@holdfast/upp";
import type { Host } from "holdfast";
import type { Ports } from "holdfast/host";
import { type EnvGiven, type Redaction, Redactions, ThreadEnvironment } from "../environment/index.ts";
import { fileMethods, filesOf, storeAttachments } from "../files/index.ts";
import { ThreadValues } from "../values/index.ts";
import type { EnvironmentScope, ThreadParts, ThreadPlace } from "./parts.ts";

/** Options of the default parts. */
export interface DefaultPartsOptions {
	readonly host: Host;
	readonly ports: Pick<Ports, "clock" | "ids">;
	/** Values of the program that runs the project. */
	readonly env: EnvGiven | undefined;
	/** Values of a user's account. */
	readonly userEnv: ((userId: string) => EnvGiven | undefined | Promise<EnvGiven | undefined>) | undefined;
	/** Returns the thread with an id. */
	place(threadId: string): Promise<ThreadPlace | undefined>;
	readonly effects: ThreadParts["effects"];
	/** Whether a variable stays in a thread, according to a definition of its agent or its tools. */
	isScoped(thread: ThreadPlace, name: string): boolean;
}

/** Marks the key-value pairs among the values stored with a session. */
export const valuesOwner = "thread-values";

/** Milliseconds after which a value that another process has set is masked, if the thread does not read it earlier. */
const redactionStaleMs = 1_000;

/** Creates the default parts. */
export function defaultParts(options: DefaultPartsOptions): ThreadParts {
	const { host, ports, env, userEnv } = options;
	const newId = (): string => ports.ids.uuid();
	const redactions = new Redactions();
	/** Counts reads and writes here: a cached redaction includes all values that were read and set before it. */
	let uses = 0;
	const used = <T>(value: Promise<T>): Promise<T> => value.finally(() => uses++);
	const environmentOf: ThreadParts["environment"] = (thread, scope) => {
		const made = bare(thread, scope);
		let known: { readonly uses: number; readonly at: number; readonly redaction: Redaction } | undefined;
		const redact = <Value>(data: Value): Value | Promise<Value> => {
			const [before, at] = [uses, ports.clock.now()];
			if (known?.uses === before && at >= known.at && at - known.at < redactionStaleMs)
				return known.redaction.redact(data);
			const redactWith = (redaction: Redaction): Value => {
				known = { uses: before, at, redaction };
				return redaction.redact(data);
			};
			const redaction = made.redaction();
			return after(redaction, redactWith);
		};
		return {
			env: (name) => used(made.env(name)),
			envType: (name) => made.envType(name),
			setEnv: (name, value, given) => used(made.setEnv(name, value, given)),
			find: (name) => used(made.find(name)),
			redaction: () => made.redaction(),
			redact,
		};
	};
	const bare = (thread: ThreadPlace, { agent, prompt, masked }: EnvironmentScope = {}): ThreadEnvironment =>
		new ThreadEnvironment({
			values: host.values.values(thread.storeKey, "thread-env"),
			redactions,
			agent: () => agent,
			prompt: () => prompt,
			masked: () => masked,
			user: () => {
				const { userId } = thread.record;
				return userId === null ? undefined : userEnv?.(userId);
			},
			instance: () => env,
			isScoped: (name) => options.isScoped(thread, name),
			parent() {
				const { parent } = thread.record;
				if (parent === undefined) return undefined;
				return options
					.place(parent.threadId)
					.then((above) => (above === undefined ? undefined : bare(above)));
			},
		});
	return {
		files(thread) {
			const files = filesOf(host, thread.storeKey);
			return {
				...fileMethods(files),
				storeAttachments: (attachments) => storeAttachments(files, attachments, newId),
			};
		},
		values(thread) {
			const values = new ThreadValues(host.values.values(thread.storeKey, valuesOwner));
			return {
				getValue: (key) => values.getValue(key),
				setValue: (key, value) => values.setValue(key, value),
			};
		},
		effects: options.effects,
		environment: environmentOf,
	};
}
