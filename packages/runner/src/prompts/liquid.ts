// Engine `liquid`: the library parses and renders, in a context that charges for the work. Tags and filters that include other
// templates, return something else each time, or evaluate text as an expression are removed. The library is optional, so it
// is passed in.
import { cutText, messageOf } from "@holdfast/upp";
import type { Context, Emitter, Liquid, Template } from "liquidjs";
import { type Budget, limitExceeded } from "./budget.ts";
import { textOf } from "./plain-params.ts";
import {
	type CompileOutcome,
	problemAt,
	problemIn,
	type RenderParts,
	type TemplateEngine,
	tooDeep,
} from "./template-engine.ts";

const refusedTags = ["include", "render", "layout", "block"];
const refusedFilters = [
	"sample",
	"where_exp",
	"reject_exp",
	"group_by_exp",
	"has_exp",
	"find_exp",
	"find_index_exp",
];
const reserved: ReadonlySet<unknown> = new Set(["constructor", "__proto__"]);

/** The library's own limit counts characters and list elements that filters create. */
const filterShare = 4;

/** Writes the output of a template or a `capture`. */
class BudgetEmitter implements Emitter {
	buffer = "";
	readonly #budget: Budget;

	constructor(budget: Budget) {
		this.#budget = budget;
	}

	write(value: unknown): void {
		this.buffer += this.#budget.write(boundedText(value, this.#budget));
	}
}

function weigh(value: unknown, budget: Budget, depth: number = 0): void {
	if (typeof value !== "object" || value === null) return;
	if (depth > 200) throw limitExceeded("nests lists too deeply");
	const values = Object.values(value);
	budget.step(values.length);
	for (const each of values) weigh(each, budget, depth + 1);
}

function boundedText(value: unknown, budget: Budget): string {
	weigh(value, budget);
	return textOf(value);
}

/** Maximum number of tags in a text: the library's parser takes a tenth of a millisecond for each. */
const maximalTags = 5_000;

function isDeeper(templates: readonly Template[], depth: number): boolean {
	return templates.some((template) => {
		const inside = (
			template.children?.({} as never, true) as Generator<unknown, Template[]> | undefined
		)?.next().value as Template[] | undefined;
		return inside !== undefined && (depth === 0 ? true : isDeeper(inside, depth - 1));
	});
}

/** Returns the engine for the library, `liquidjs`. */
export function liquidEngine(library: typeof import("liquidjs")): TemplateEngine {
	/** The context of one rendering. */
	class PromptContext extends library.Context {
		readonly parts: RenderParts;
		depth = 0;

		constructor(liquid: Liquid, parts: RenderParts) {
			const { limits } = parts.budget;
			const options = {
				sync: true,
				memoryLimit: limits.outputLength * filterShare,
				renderLimit: limits.renderMs,
			};
			super(parts.params, liquid.options, options, { liquid });
			this.parts = parts;
		}

		override readProperty(from: never, key: never): ReturnType<Context["readProperty"]> {
			if (reserved.has(key)) return undefined;
			return super.readProperty(from, key);
		}
	}

	function makeLiquid(): Liquid {
		const noFile = (): never => {
			throw new Error("a template cannot open files");
		};
		const liquid = new library.Liquid({
			strictFilters: true,
			ownPropertyOnly: true,
			cache: false,
			relativeReference: false,
			fs: {
				exists: async () => false,
				existsSync: () => false,
				readFile: noFile,
				readFileSync: noFile,
				resolve: noFile,
			},
		});
		for (const name of refusedTags) delete liquid.tags[name];
		for (const name of refusedFilters) liquid.unregisterFilter(name);
		liquid.registerFilter("redact", function (value: unknown) {
			const { budget, redact } = (this.context as PromptContext).parts;
			weigh(value, budget);
			return redact(value);
		});
		liquid.registerTag("assign", WeighedAssign);
		const { renderer } = liquid;
		const renderTemplates = renderer.renderTemplates;
		renderer.renderTemplates = function* (templates: Template[], context: Context, emitter?: Emitter) {
			const inContext = context as PromptContext;
			const { budget } = inContext.parts;
			budget.step(templates.length + 1);
			inContext.depth += 1;
			if (inContext.depth > budget.limits.depth + 1) throw limitExceeded("nests blocks too deeply");
			const written = yield* renderTemplates.call(
				renderer,
				templates,
				context,
				emitter ?? new BudgetEmitter(budget),
			);
			inContext.depth -= 1;
			return written;
		};
		return liquid;
	}

	/** Lists may contain the same list many times, so a variable weighs as much as everything it contains. */
	class WeighedAssign extends library.AssignTag {
		override *render(context: Context): Generator<unknown, void, unknown> {
			yield* super.render(context) as Generator<unknown, void, unknown>;
			const name = (this as unknown as { key: string }).key;
			weigh((context.bottom() as Record<string, unknown>)[name], (context as PromptContext).parts.budget);
		}
	}

	let shared: Liquid | undefined;

	function compile(text: string, { depth }: { readonly depth: number }): CompileOutcome {
		let tags = 0;
		for (const { index } of text.matchAll(/\{[{%]/g)) {
			tags += 1;
			if (tags > maximalTags) return { problems: [problemAt(text, index, `more than ${maximalTags} tags`)] };
		}
		shared ??= makeLiquid();
		const liquid = shared;
		let templates: Template[];
		let references: string[];
		try {
			templates = liquid.parse(text);
			if (isDeeper(templates, depth)) return { problems: [problemAt(text, 0, tooDeep(depth))] };
			references = liquid.globalFullVariablesSync(templates, { partials: false });
		} catch (error) {
			return { problems: [problemOf(text, error, depth)] };
		}
		return { prompt: { references, render: (parts) => render(liquid, templates, parts) } };
	}

	function problemOf(text: string, error: unknown, depth: number): string {
		if (error instanceof RangeError) return problemAt(text, 0, tooDeep(depth));
		if (!library.LiquidError.is(error)) return problemAt(text, 0, messageOf(error));
		const { token, message } = error as unknown as {
			token: { getPosition(): [number, number] };
			message: string;
		};
		const [line, column] = token.getPosition();
		const bare = cutText(message.replace(/, line:\d+, col:\d+$/, ""), 500);
		const tag = /^tag "([^"]*)" not found$/.exec(bare)?.[1];
		const isPartial = tag !== undefined && refusedTags.includes(tag);
		const refused = isPartial ? `"${tag}" is not allowed: a template cannot include another` : undefined;
		const filter = /^undefined filter: (.*)$/.exec(bare)?.[1];
		return problemIn(line, column, refused ?? (filter === undefined ? bare : `unknown filter "${filter}"`));
	}

	function render(liquid: Liquid, templates: Template[], parts: RenderParts): string {
		try {
			return liquid.renderSync(templates, new PromptContext(liquid, parts)) as string;
		} catch (error) {
			const cause = (error as { originalError?: unknown }).originalError ?? error;
			if ((cause as { code?: unknown }).code === "PROMPT_LIMIT") throw cause;
			if (/ limit exceeded/.test(String((cause as { message?: unknown }).message)))
				throw limitExceeded("takes too long, or its filters produce too much", error);
			throw error;
		}
	}

	return { compile };
}
