// Collects the metadata that a provider sends part by part. Each part costs its own size, regardless of earlier ones
// (keeps I7).
import type { ProviderMetadata } from "../messages/index.ts";
import type { AISDKMetadata } from "./language-model-types.ts";

/**
 * Merges metadata: later parts add to earlier ones. For example, an id arrives at the start of a block, its signature at
 * the end.
 */
export class GrowingMetadata {
	/** The provider's own object until more is added, then a copy. */
	#value: ProviderMetadata | undefined;
	#isCopy = false;

	constructor(value?: ProviderMetadata) {
		this.#value = value;
	}

	get value(): ProviderMetadata | undefined {
		return this.#value;
	}

	add(added: AISDKMetadata | undefined): void {
		if (added === undefined || added === null) return;
		if (this.#value === undefined) {
			this.#value = added as ProviderMetadata;
			return;
		}
		if (!this.#isCopy) {
			const copied = Object.entries(this.#value).map(([name, members]) => [name, { ...members }] as const);
			this.#value = Object.fromEntries(copied);
			this.#isCopy = true;
		}
		const merged = this.#value;
		for (const [provider, members] of Object.entries(added)) {
			if (!Object.hasOwn(merged, provider)) define(merged, provider, {});
			for (const [name, value] of Object.entries(members ?? {}))
				define(merged[provider] as object, name, value);
		}
	}
}

/** Defined, not assigned: a member may be named `__proto__`. */
function define(target: object, name: string, value: unknown): void {
	Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}
