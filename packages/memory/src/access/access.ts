// Read and write permissions by role. A refused access is recorded before the caller receives the error.
import { HoldfastError, uuid } from "@holdfast/upp";
import type { AccessAudit, AccessRule, MemoryCaller } from "../contract/index.ts";

/** A stream or a collection. */
export interface Place {
	readonly kind: "stream" | "collection";
	readonly name: string;
}

export class Access {
	readonly #rules: readonly AccessRule[];
	readonly #audit: AccessAudit | undefined;
	readonly #now: () => number;

	constructor(rules: readonly AccessRule[], audit: AccessAudit | undefined, now: () => number) {
		this.#rules = rules;
		this.#audit = audit;
		this.#now = now;
	}

	/** Whether a caller has access. */
	allows(action: "read" | "write", place: Place, { roles }: MemoryCaller): boolean {
		return this.#refusing(action, place, roles ?? []) === undefined;
	}

	/** @throws HoldfastError `ACCESS_DENIED` if the caller has no access; the refusal is recorded. */
	async demand(action: "read" | "write", place: Place, caller: MemoryCaller): Promise<void> {
		const { roles = [], agentId = "unknown" } = caller;
		const rule = this.#refusing(action, place, roles);
		if (rule === undefined) return;
		let cause: unknown;
		try {
			await this.#audit?.write({
				id: uuid(),
				timestamp: new Date(this.#now()).toISOString(),
				agentId,
				point: "access",
				rule: rule.stream ?? rule.collection ?? "",
				action: "denied",
				subject: { action, [place.kind]: place.name, roles },
			});
		} catch (error) {
			cause = error;
		}
		throw new HoldfastError(
			"ACCESS_DENIED",
			`No role of the caller is allowed to ${action} the ${place.kind} ${JSON.stringify(place.name)}. Nothing was changed. Pass \`roles\` that its access rule names.`,
			{ cause, data: { action, [place.kind]: place.name } },
		);
	}

	#refusing(action: "read" | "write", place: Place, roles: readonly string[]): AccessRule | undefined {
		return this.#rules.find((rule) => {
			const granted = rule[action];
			if (granted === undefined || !isFor(rule[place.kind], place.name)) return false;
			return !roles.some((role) => granted.includes(role));
		});
	}
}

function isFor(pattern: string | undefined, name: string): boolean {
	if (pattern === undefined) return false;
	return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
