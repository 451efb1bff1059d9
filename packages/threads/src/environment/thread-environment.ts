// The environment of one thread. A name is looked up in the thread, in its parent threads, in the definitions of its
// agent and prompt, with its user and in the instance, in this order.
import { after, isThenable } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { EnvValueType, SetEnvOptions } from "../types/index.ts";
import { type Redaction, Redactions, secretsAmong } from "./redact.ts";

/** A value of the environment. */
export interface EnvValue {
	/** The value in plain text. */
	readonly value: string;
	/** How interfaces display it; a `secret` is masked. */
	readonly type: EnvValueType;
}

/** A value, and whether the thread itself defines it. */
type FoundValue = EnvValue & { readonly isOfThread?: true };

/** Values from the program that runs the project: a plain string is a secret. */
export type EnvGiven = Readonly<Record<string, string | EnvValue>>;

/** Named values that a host stores with a session. */
interface HostValues {
	get(name: string): unknown;
	set(name: string, value: unknown): unknown;
	list(): unknown;
}

/** Sources of a thread's values. They are queried each time, because definitions and threads change. */
export interface EnvironmentParts {
	/** The thread's own values. */
	readonly values: HostValues;
	/** The environment of the parent thread, or undefined. */
	parent?(): ThreadEnvironment | undefined | Promise<ThreadEnvironment | undefined>;
	/** Whether a definition in this thread withholds a variable from sub-agents. */
	isScoped?(name: string): boolean | Promise<boolean>;
	/** The `env` of the acting agent. */
	agent?(): Readonly<Record<string, string>> | undefined;
	/** The `env` of the running prompt. */
	prompt?(): Readonly<Record<string, string>> | undefined;
	/** Values of other definitions: not found by name here, but masked nevertheless. */
	masked?(): readonly Readonly<Record<string, string>>[] | undefined;
	/** Values of the user's account. */
	user?(): EnvGiven | undefined | Promise<EnvGiven | undefined>;
	/** Values of the program that runs the project. */
	instance?(): EnvGiven | undefined | Promise<EnvGiven | undefined>;
	/** Shared by threads, so that each set of secrets is prepared once. Default: for this thread only. */
	readonly redactions?: Redactions;
}

export class ThreadEnvironment {
	readonly #parts: EnvironmentParts;
	readonly #redactions: Redactions;

	constructor({ redactions = new Redactions(), ...parts }: EnvironmentParts) {
		this.#parts = parts;
		this.#redactions = redactions;
	}

	/** Returns the value of a name. @throws HoldfastError `env_not_set`. */
	async env(name: string): Promise<string> {
		const found = await this.find(name);
		if (found !== undefined) return found.value;
		throw new HoldfastError(
			"env_not_set",
			`The environment has no value ${JSON.stringify(name)}. Set it in the thread with \`setEnv\`, in \`env\` of the agent or prompt, or where the project is run.`,
			{ data: { name } },
		);
	}

	/** Returns how the value of a name is displayed; `secret` by default. */
	async envType(name: string): Promise<EnvValueType> {
		return (await this.find(name))?.type ?? "secret";
	}

	/** Stores a value for this thread and the threads of its sub-agents. */
	async setEnv(name: string, value: string, { type }: SetEnvOptions = {}): Promise<void> {
		if (typeof name !== "string" || name === "" || typeof value !== "string")
			throw new HoldfastError(
				"invalid_value",
				"A name and a value of the environment must be strings. Give both.",
			);
		if (type !== undefined && type !== "text" && type !== "secret")
			throw new HoldfastError("invalid_value", 'The type of a value must be "text" or "secret".');
		const kept = type ?? (await this.find(name))?.type ?? "secret";
		await this.#parts.values.set(name, { value, type: kept } satisfies EnvValue);
	}

	/** Returns the value of a name; undefined if no source has it. */
	async find(name: string): Promise<EnvValue | undefined> {
		return (await this.#findInThreads(name)) ?? this.#findInDefinitions(name);
	}

	/** Returns every value that can be read here by its name. */
	async all(): Promise<ReadonlyMap<string, EnvValue>> {
		const { agent, prompt, user, instance } = this.#parts;
		const all = new Map<string, EnvValue>();
		for (const given of [await instance?.(), await user?.(), prompt?.(), agent?.()])
			for (const name of Object.keys(given ?? {})) all.set(name, valueIn(given, name) as EnvValue);
		for (const [name, value] of await this.#allOfThreads()) all.set(name, value);
		return all;
	}

	/**
	 * Returns a redaction of every secret value known here, with the current values. It is a promise only if a source is
	 * asynchronous, because it is called for each result of a tool.
	 */
	redaction(): Redaction | Promise<Redaction> {
		const found = this.#everything();
		const redactionOf = (values: readonly FoundValue[]): Redaction =>
			this.#redactions.of(secretsAmong(values));
		return after(found, redactionOf);
	}

	/**
	 * Returns all values that can be read here, including shadowed ones: a secret stays secret even if another source
	 * takes precedence.
	 */
	#everything(): readonly FoundValue[] | Promise<readonly FoundValue[]> {
		const { agent, prompt, masked, user, instance, parent, values } = this.#parts;
		const found: FoundValue[] = [];
		const addGiven = (given: EnvGiven | undefined): void => {
			for (const name of Object.keys(given ?? {})) found.push(valueIn(given, name) as EnvValue);
		};
		addGiven(prompt?.());
		addGiven(agent?.());
		for (const given of masked?.() ?? []) addGiven(given);
		const [own, ofInstance, ofUser, above] = [values.list(), instance?.(), user?.(), parent?.()];
		const gather = (
			list: unknown,
			mine: EnvGiven | undefined,
			users: EnvGiven | undefined,
			parents: ThreadEnvironment | undefined,
		): readonly FoundValue[] | Promise<readonly FoundValue[]> => {
			for (const { value } of list as readonly { value: EnvValue }[])
				found.push({ ...value, isOfThread: true });
			addGiven(mine);
			addGiven(users);
			if (parents === undefined) return found;
			return after(parents.#everything(), (more) => [...found, ...more]);
		};
		if (isThenable(own) || isThenable(ofInstance) || isThenable(ofUser) || isThenable(above))
			return Promise.all([own, ofInstance, ofUser, above]).then((all) => gather(...all));
		return gather(own, ofInstance, ofUser, above);
	}

	async #findInThreads(name: string): Promise<EnvValue | undefined> {
		const own = (await this.#parts.values.get(name)) as EnvValue | undefined;
		if (own !== undefined) return own;
		const parent = await this.#parts.parent?.();
		if (parent === undefined || (await parent.#parts.isScoped?.(name)) === true) return undefined;
		return parent.#findInThreads(name);
	}

	async #findInDefinitions(name: string): Promise<EnvValue | undefined> {
		const { agent, prompt, user, instance } = this.#parts;
		return (
			valueIn(agent?.(), name) ??
			valueIn(prompt?.(), name) ??
			valueIn(await user?.(), name) ??
			valueIn(await instance?.(), name)
		);
	}

	async #allOfThreads(): Promise<Map<string, EnvValue>> {
		const parent = await this.#parts.parent?.();
		const all = new Map<string, EnvValue>();
		if (parent !== undefined)
			for (const [name, value] of await parent.#allOfThreads())
				if ((await parent.#parts.isScoped?.(name)) !== true) all.set(name, value);
		for (const [name, value] of await this.#own()) all.set(name, value);
		return all;
	}

	async #own(): Promise<ReadonlyMap<string, EnvValue>> {
		const all = (await this.#parts.values.list()) as readonly { name: string; value: EnvValue }[];
		return new Map(all.map(({ name, value }) => [name, value]));
	}
}

/** Returns the given value of a name, or undefined. */
export function valueIn(given: EnvGiven | undefined, name: string): EnvValue | undefined {
	if (given === undefined || !Object.hasOwn(given, name)) return undefined;
	const value = given[name];
	if (typeof value === "string") return { value, type: "secret" };
	return typeof value?.value === "string" ? value : undefined;
}
