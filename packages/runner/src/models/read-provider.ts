// Normalises the given providers: clients, AI SDK models, and either with declared capabilities.
import { HoldfastError, messageOf } from "@holdfast/upp";
import type {
	AgentConfig,
	HealthCheck,
	LLMClient,
	ModelInfo,
	ModelProvider,
	TokenPrice,
} from "../contract/index.ts";
import { modelClient } from "./model-client.ts";

/** A provider in the form that the router uses. A capability that it does not advertise is undefined. */
export class KnownProvider {
	readonly id: string;
	readonly priority: number;
	readonly client: LLMClient;
	readonly price: TokenPrice | undefined;
	/** The given value, for scores. */
	readonly given: ModelProvider;
	/** Time before which it accepts no call, in milliseconds since the epoch. */
	notBefore = 0;
	#info: Promise<ModelInfo | undefined> | undefined;

	constructor(given: ModelProvider, client: LLMClient) {
		this.id = given.id;
		this.priority = given.priority ?? 0;
		this.client = client;
		this.price = given.price;
		this.given = given;
	}

	/** Returns the client's description of its model, requested once; a failed request is repeated. */
	info(): Promise<ModelInfo | undefined> {
		this.#info ??= this.#ask();
		return this.#info;
	}

	async #ask(): Promise<ModelInfo | undefined> {
		try {
			return await this.client.getModelInfo?.();
		} catch {
			this.#info = undefined;
			return undefined;
		}
	}

	/** Never rejects. */
	async check(): Promise<HealthCheck> {
		try {
			const { client } = this;
			if (client.health !== undefined) await client.health();
			else await client.getModelInfo?.();
			return { name: this.id, ok: true };
		} catch (error) {
			return { name: this.id, ok: false, message: messageOf(error) };
		}
	}
}

/** @throws HoldfastError `CONFIG_INVALID`. */
export function readProviders(given: AgentConfig["modelProviders"]): readonly KnownProvider[] {
	const problems: string[] = [];
	const ids = new Set<string>();
	const providers = given.map((each, at) => {
		const provider = readProvider(each, at, problems);
		if (ids.has(provider.id))
			problems.push(`modelProviders[${at}].id: ${JSON.stringify(provider.id)} is used twice`);
		ids.add(provider.id);
		return provider;
	});
	if (problems.length > 0) {
		const message = `The configuration is invalid. ${problems.join("; ")}.`;
		throw new HoldfastError("CONFIG_INVALID", message, {
			data: { paths: problems.map((problem) => problem.split(":")[0]) },
		});
	}
	return providers;
}

function readProvider(
	given: AgentConfig["modelProviders"][number],
	at: number,
	problems: string[],
): KnownProvider {
	const nobody = new KnownProvider({ id: `provider-${at + 1}`, client: unusable }, unusable);
	const wrong = (path: string, why: string): KnownProvider => {
		problems.push(`modelProviders[${at}]${path}: ${why}`);
		return nobody;
	};
	if ((typeof given !== "object" && typeof given !== "function") || given === null)
		return wrong("", "it is neither a client nor a model");
	if (!isProvider(given)) {
		const client = clientOf(given);
		if (typeof client === "string") return wrong("", client);
		const named = (given as { provider?: unknown; modelId?: unknown }) ?? {};
		const isNamed = typeof named.provider === "string" && typeof named.modelId === "string";
		const id = isNamed ? `${named.provider}:${named.modelId}` : `provider-${at + 1}`;
		return new KnownProvider({ id, client: given }, client);
	}
	const { id, priority = 0, maxTokens, price } = given;
	if (typeof id !== "string" || id === "") return wrong(".id", "it is not a string, or empty");
	if (typeof priority !== "number" || Number.isNaN(priority)) return wrong(".priority", "it is not a number");
	if (maxTokens !== undefined && !(maxTokens > 0)) return wrong(".maxTokens", "it is not a number above 0");
	if (price !== undefined && !(price.input >= 0 && price.output >= 0))
		return wrong(".price", "it is not a price");
	const client = clientOf(given.client);
	return typeof client === "string" ? wrong(".client", client) : new KnownProvider(given, client);
}

function isProvider(given: object): given is ModelProvider {
	return "client" in given;
}

/** Returns a client, or why the value is not one. */
function clientOf(given: unknown): LLMClient | string {
	if (typeof (given as { call?: unknown } | null)?.call === "function" && typeof given === "object")
		return given as LLMClient;
	try {
		return modelClient(given as Parameters<typeof modelClient>[0]);
	} catch (error) {
		return (error as Error).message;
	}
}

const unusable: LLMClient = { call: () => Promise.reject(new Error("not a client")) };
