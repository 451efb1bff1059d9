// The prompt store. A put is parsed, checked by policy, recorded and then stored, in this order: a failure before the
// last step stores nothing and uses no version.

import { createHash } from "node:crypto";
import { createRedactor, type Redactor } from "@holdfast/redaction";
import { checkOptions, HoldfastError, messageOf, optionNames } from "@holdfast/upp";
import { type Clock, type Ids, systemPorts } from "holdfast/host";
import type {
	AuditSink,
	PromptEngine,
	PromptStore,
	PromptTemplate,
	RunIdentity,
	SafetyLayer,
} from "../contract/index.ts";
import { type PromptLimits, readLimits } from "./budget.ts";
import { Compiler } from "./compiler.ts";
import { defaultEngine } from "./engines.ts";
import { frozen, type GivenTemplate, invalidPrompt, readTemplate } from "./read-template.ts";
import { type RenderOptions, renderPrompt } from "./render-prompt.ts";
import {
	type CreatingDatabase,
	databaseKeeper,
	memoryKeeper,
	type TemplateKeeper,
} from "./template-keeper.ts";

const databasePromptStoreNames = optionNames<DatabasePromptStoreOptions>({
	collection: "text",
	roles: "list",
	redactor: "object",
	safety: "object",
	auditSink: "object",
	agentId: "text",
	estimateTokens: "function",
	limits: "object",
	ports: "object",
});
const promptStoreNames = optionNames<PromptStoreOptions>({
	redactor: "object",
	safety: "object",
	auditSink: "object",
	agentId: "text",
	estimateTokens: "function",
	limits: "object",
	ports: "object",
});

/** Options of every prompt store. */
export interface PromptStoreOptions {
	/** Masks the parameters passed to `redact`. Default: PII and secrets of every known kind. */
	readonly redactor?: Redactor;
	/** Policy on puts: it may mask or block the template. Default: none. */
	readonly safety?: Pick<SafetyLayer, "checkWrite">;
	/** Receives one record for each put; if it rejects, nothing is stored. Default: none. */
	readonly auditSink?: AuditSink;
	/** The agent name in audit records and policy questions. Default: `prompts`. */
	readonly agentId?: string;
	/** Returns the tokens of a rendered text. Default: a fourth of its characters, rounded up. */
	readonly estimateTokens?: (text: string) => number | Promise<number>;
	/** The cost limits of templates. Each has a default. */
	readonly limits?: PromptLimits;
	/** Time and ids. Default: those of the system. */
	readonly ports?: { readonly clock?: Clock; readonly ids?: Ids };
}

/** Options of a prompt store over a database. */
export interface DatabasePromptStoreOptions extends PromptStoreOptions {
	/** The collection for templates. Default: `prompts`. */
	readonly collection?: string;
	/** Roles that the store uses to read and write, if the database has access rules. Default: none. */
	readonly roles?: readonly string[];
}

/** Creates a prompt store for tests and short runs: nothing outlives the object. */
export function memoryPromptStore(options: PromptStoreOptions = {}): PromptStore {
	checkOptions(options, promptStoreNames, { of: "memoryPromptStore()" });
	return createStore(memoryKeeper(), options);
}

/**
 * Creates a prompt store over a database. Puts of several stores in one process over one client get separate versions.
 * Puts of several processes do too if the client has `create`, which only writes a value whose key is free.
 */
export function databasePromptStore(
	database: CreatingDatabase,
	given: DatabasePromptStoreOptions = {},
): PromptStore {
	checkOptions(given, databasePromptStoreNames, { of: "databasePromptStore()" });
	const { collection = "prompts", roles, ...options } = given;
	return createStore(databaseKeeper(database, collection, roles === undefined ? {} : { roles }), options);
}

function createStore(keeper: TemplateKeeper, options: PromptStoreOptions): PromptStore {
	const { safety, auditSink, agentId = "prompts", ports = {} } = options;
	const { clock, ids } = { ...systemPorts, ...ports };
	const limits = readLimits(options.limits);
	const compiler = new Compiler(limits);
	const redactor = options.redactor ?? createRedactor({});
	const identity: RunIdentity = { agentId };
	const rendering: RenderOptions = {
		redactor,
		limits,
		estimateTokens: options.estimateTokens ?? charactersByFour,
	};

	const compiled = async (id: string, text: string, engine: PromptEngine = defaultEngine) => {
		const outcome = await compiler.compile(text, engine);
		if ("problems" in outcome) throw invalidPrompt(id, outcome.problems);
		return outcome.prompt;
	};

	/** Applies the policy to a template before it is stored. */
	const checked = async (template: GivenTemplate): Promise<GivenTemplate> => {
		if (safety === undefined) return template;
		const { id, createdBy, engine, ...subject } = template;
		let came: Awaited<ReturnType<SafetyLayer["checkWrite"]>>;
		try {
			came = await safety.checkWrite("prompt-write", id, subject, identity);
		} catch (error) {
			if ((error as { code?: unknown }).code === "AUDIT_WRITE_FAILED") throw error;
			throw invalidPrompt(id, [messageOf(error)], error);
		}
		if (came === undefined) throw invalidPrompt(id, ["policy does not permit it to be stored"]);
		if (came.value === subject) return template;
		return readTemplate({ ...(came.value as GivenTemplate), id, ...(engine && { engine }) }, createdBy);
	};

	const putOnRecord = async ({ id, version, createdBy, text }: PromptTemplate): Promise<void> => {
		const textHash = createHash("sha256").update(text).digest("hex");
		try {
			await auditSink?.write({
				id: ids.uuid(),
				timestamp: new Date(clock.now()).toISOString(),
				agentId,
				point: "prompt",
				rule: "prompt.put",
				action: "put",
				subject: { id, version, ...(createdBy === undefined ? {} : { author: createdBy }), textHash },
			});
		} catch (error) {
			throw new HoldfastError(
				"AUDIT_WRITE_FAILED",
				`The audit record could not be written, so the template ${JSON.stringify(id)} was not stored.`,
				{ cause: error },
			);
		}
	};

	return {
		get: (id, version) => keeper.get(id, version),
		async list({ tag, name } = {}) {
			const latest = await keeper.latest();
			return latest
				.filter(
					(each) => (tag === undefined || hasTag(each, tag)) && (name === undefined || each.name === name),
				)
				.toSorted((a, b) => (a.id < b.id ? -1 : 1));
		},
		async validate(text, engine = defaultEngine) {
			try {
				const outcome = await compiler.compile(text, engine);
				return "problems" in outcome ? { ok: false, errors: [...outcome.problems] } : { ok: true };
			} catch (error) {
				return { ok: false, errors: [messageOf(error)] };
			}
		},
		async put(given, { author } = {}) {
			const read = readTemplate(given, author);
			await compiled(read.id, read.text, read.engine);
			const template = await checked(read);
			if (template.text !== read.text) await compiled(template.id, template.text, template.engine);
			return keeper.add(template.id, async (version) => {
				const made = frozen({ ...template, version, createdAt: new Date(clock.now()).toISOString() });
				await putOnRecord(made);
				return made;
			});
		},
		async render(id, params = {}, { throwOnMissing, version } = {}) {
			const template = await keeper.get(id, version);
			if (template === null) {
				const which = version === undefined ? "" : ` with the version ${JSON.stringify(version)}`;
				throw new HoldfastError("PROMPT_NOT_FOUND", `There is no template ${JSON.stringify(id)}${which}.`);
			}
			const prompt = await compiled(id, template.text, template.engine);
			return renderPrompt({ prompt, template, params, throwOnMissing }, rendering);
		},
	};
}

function charactersByFour(text: string): number {
	return Math.ceil(text.length / 4);
}

/** Tags are the list `metadata.tags`, or the string `metadata.tag`. */
function hasTag({ metadata }: PromptTemplate, tag: string): boolean {
	return metadata?.tag === tag || (Array.isArray(metadata?.tags) && metadata.tags.includes(tag));
}
