// Attempts to escape, or to access what was not given. Each is a program of the guest: it may fail or return anything,
// but nothing of the host is reached, changed or exposed, and the sandbox serves the next run.
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";

const { sandbox, run, value } = bench({ workers: 2, cpuLimitMs: 2000 });

/** The objects that a program looks for once it has a global object or a function constructor. */
const probe =
	"[typeof process, typeof require, typeof fetch, typeof setTimeout, typeof Buffer, typeof WebAssembly, typeof globalThis.process, typeof navigator, typeof performance]";
const nothing = Array.from({ length: 9 }, () => "undefined");

/** Expressions that lead to a function constructor, or to a constructor of functions from text. */
const constructors = [
	"Function",
	"(() => {}).constructor",
	"(async () => {}).constructor",
	"(function* () {}).constructor",
	"(async function* () {}).constructor",
	"given.constructor",
	"given.call.constructor",
	"given.bind().constructor",
	"given.__proto__.constructor",
	"data.constructor.constructor",
	"data.list.map.constructor",
	"data.list[Symbol.iterator].constructor",
	"data.map.get.constructor",
	"data.when.getTime.constructor",
	"data.bytes.constructor.constructor",
	"data.bytes.buffer.constructor.constructor",
	"data.nested.method.constructor",
	"new data.constructor.constructor('return this')().Function",
	"console.log.constructor",
	"console.constructor.constructor",
	"report.constructor",
	"lib.run.constructor",
	"lib.default.constructor.constructor",
	"Object.getPrototypeOf(given).constructor",
	"Object.getOwnPropertyDescriptor(Object.prototype, '__proto__').get.constructor",
	"Reflect.getPrototypeOf(async () => {}).constructor",
	"(() => { try { thrower() } catch (e) { return e.constructor.constructor } })()",
	"(() => { try { null.x } catch (e) { return e.constructor.constructor } })()",
	"await later().catch((e) => e.constructor.constructor)",
	"later().catch(() => {}).constructor.constructor",
	"Promise.resolve().then.constructor",
	"Symbol.for('a').constructor.constructor",
	"1n.constructor.constructor",
	"''.constructor.constructor",
	"(0).toFixed.constructor",
	"/a/.exec.constructor",
	"new Proxy(given, {}).constructor",
	"Proxy.revocable({}, {}).revoke.constructor",
	"import.meta.constructor?.constructor ?? Function",
	"(await import('lib')).run.constructor",
	"(await import('lib')).default.constructor.constructor",
	"given.toString.call.constructor",
	"structure.cycle.cycle.constructor.constructor",
	"Array.from([given])[0].constructor",
	"Object.getPrototypeOf(class extends Function {})",
	"Reflect.construct(Function, ['return Function'], Array)()",
	"(class { static { this.f = Function } }).f",
	"Intl?.constructor?.constructor",
	"JSON.parse.constructor",
	"WeakRef.prototype.deref.constructor",
	"new FinalizationRegistry(() => {}).register.constructor",
	"Atomics?.wait?.constructor",
	"Error.captureStackTrace?.constructor ?? Function",
].map((way) => way.replace(/^Intl\?/, "globalThis.Intl?").replace(/^Atomics\?/, "globalThis.Atomics?"));

const structure: Record<string, unknown> = {};
structure["cycle"] = structure;
const capabilities = {
	imports: { lib: { run: () => 1, default: { a: 1 } } },
	report: () => {},
	globals: {
		structure,
		given: (...args: unknown[]) => args.length,
		thrower: () => {
			throw new Error("host");
		},
		later: () => Promise.reject(new Error("host")),
		data: {
			list: [1],
			map: new Map([[1, 1]]),
			when: new Date(0),
			bytes: new Uint8Array(4),
			nested: { method: () => 1 },
		},
	},
};

describe("no constructor gives access to the host [SA-155]", () => {
	test.each(constructors)("%s [SA-155]", async (way) => {
		const outcome = await run(
			`import lib_, * as lib from "lib";
			let make; try { make = ${way} } catch { make = Function }
			if (typeof make !== "function") make = Function;
			let seen = await make(${JSON.stringify(`return ${probe}`)})();
			if (typeof seen?.next === "function") seen = (await seen.next()).value;
			export default seen`,
			capabilities,
		);
		expect(outcome.error).toBeUndefined();
		expect(outcome.result).toEqual(nothing);
	});

	test.each([
		"eval(code)",
		"(0, eval)(code)",
		"globalThis.eval(code)",
		"new Function('return ' + code)()",
		"Reflect.apply(eval, null, [code])",
		"[code].map(eval)[0]",
		"Function.prototype.constructor('return ' + code)()",
		"(function () { return eval(code) }).call(null)",
		"new (Object.getPrototypeOf(async () => {}).constructor)('return ' + code)()",
		"(() => { const f = given; f.x = eval; return f.x(code) })()",
	])("nor does code in a string: %s", async (way) => {
		const source = `const code = ${JSON.stringify(probe)}; export default await (${way})`;
		expect(await value(source, capabilities)).toEqual(nothing);
	});
});

describe("modules are only loaded from the graph", () => {
	test.each([
		"fs",
		"node:fs",
		"node:process",
		"worker_threads",
		"module",
		"process",
		"file:///etc/passwd",
		"/etc/passwd",
		"../../etc/passwd",
		"./../secret.js",
		"https://a.b/c.js",
		"data:text/javascript,export default process",
		"blob:x",
		"std",
		"os",
		"qjs:std",
		"qjs:os",
		"bjson",
		"<setup>",
		"<sandbox>",
		"quickjs-wasi",
		"@holdfast/upp",
		"",
		".",
		"..",
		"\u0000fs",
		"#internal",
		"./a.js?x",
		"./a.js#y",
		"%66s",
		"__proto__",
		"constructor",
		"toString",
	])("import(%j)", async (specifier) => {
		const outcome = await run(
			`let seen; try { seen = Object.keys(await import(${JSON.stringify(specifier)})) } catch (e) { seen = e.message } export default seen`,
			{ modules: { "./a.js": "" } },
		);
		expect(outcome.status).toBe("success");
		expect(typeof outcome.result).toBe("string");
		expect(outcome.result).not.toMatch(/node_modules|packages\/|\.ts:/);
	});
});

describe("nothing of the host is visible or changed", () => {
	const hostile: readonly (readonly [string, string])[] = [
		[
			"a prepared stack",
			"Error.prepareStackTrace = (e, frames) => frames; let s; try { thrower() } catch (e) { s = e.stack } export default s",
		],
		[
			"a long stack",
			"Error.stackTraceLimit = 1e9; function f(n) { return n ? f(n - 1) : new Error('x').stack } export default f(500)",
		],
		["a captured stack", "const o = {}; Error.captureStackTrace?.(o); export default String(o.stack)"],
		["stack of an engine error", "let s; try { BigInt('x') } catch (e) { s = e.stack } export default s"],
		[
			"stack of an import",
			"let s; try { await import('nowhere') } catch (e) { s = e.stack + e.message } export default s",
		],
		[
			"stack of a refused argument",
			"let s; try { given(() => 1) } catch (e) { s = e.stack } export default s.replaceAll('<sandbox>', '')",
		],
		[
			"callers of a bridge",
			"function f() { return given.caller } let s; try { s = f() } catch (e) { s = e.message } export default s",
		],
		[
			"arguments of a bridge",
			"let s; try { s = given.arguments } catch (e) { s = e.message } export default s",
		],
		["source of a bridge", "export default given.toString()"],
		["source of the console", "export default console.log.toString()"],
		["properties of a bridge", "export default Reflect.ownKeys(given).map(String)"],
		["a bridge as a constructor", "let s; try { s = new given() } catch (e) { s = e.name } export default s"],
		["a bridge with another this", "export default given.call(globalThis, 1)"],
		[
			"a polluted prototype",
			"Object.prototype.r = 1; Object.prototype.n = 2; Object.prototype.text = 'x'; export default {}",
		],
		[
			"setters on Array.prototype",
			"for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { set() { throw 1 }, get() { return 'stolen' }, configurable: true }); given([1, 2]); export default 1",
		],
		[
			"toJSON everywhere",
			"String.prototype.toJSON = Object.prototype.toJSON = Array.prototype.toJSON = () => 'stolen'; export default { a: ['b'] }",
		],
		[
			"a replaced JSON",
			"JSON.stringify = JSON.parse = () => { throw new Error('taken') }; given({ a: 1 }); export default { a: 1 }",
		],
		[
			"a replaced Reflect",
			"for (const key of Reflect.ownKeys(Reflect)) Reflect[key] = () => { throw 1 }; given([1]); export default [1]",
		],
		[
			"a replaced Map",
			"Map.prototype.get = Map.prototype.set = Map.prototype.forEach = () => { throw 1 }; given(new Map([])); export default [{ a: 1 }]",
		],
		[
			"replaced functions",
			"Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }; given([1]); export default [1]",
		],
		[
			"a replaced iterator",
			"Array.prototype[Symbol.iterator] = function* () { yield 'stolen' }; given(1, 2); console.log(1, 2); export default [1, 2]",
		],
		[
			"a replaced Symbol.species",
			"class P extends Promise { static get [Symbol.species]() { throw 1 } } Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('species') } }); export default 1",
		],
		["a replaced then", "Promise.prototype.then = function () { throw new Error('then') }; export default 1"],
		[
			"a replaced constructor of promises",
			"Object.defineProperty(Promise.prototype, 'constructor', { get() { throw new Error('c') } }); export default 1",
		],
		["a replaced Promise", "globalThis.Promise = null; given(1); export default 1"],
		["a replaced Math.random", "Math.random = () => { throw 1 }; export default 1"],
		[
			"__proto__ in a result",
			`export default JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')`,
		],
		["__proto__ in arguments", `given(JSON.parse('{"__proto__": {"polluted": 1}}')); export default 1`],
		["__proto__ as a map key", "export default new Map([['__proto__', { polluted: 1 }]])"],
		["a getter in a result", "export default { get a() { return given(1, 2) } }"],
		["a getter that throws", "export default { get a() { throw new Error('getter') } }"],
		["a getter that grows", "const grow = () => ({ get a() { return grow() } }); export default grow()"],
		[
			"a getter that changes its object",
			"const o = { a: 1, get b() { delete o.c; o.d = 1; return 2 }, c: 3 }; export default o",
		],
		["a list that shrinks", "const o = [{ get a() { o.length = 0; return 1 } }, 2, 3]; export default o"],
		["a list whose length lies", "export default new Proxy([], { get: (t, k) => k === 'length' ? 1e9 : 0 })"],
		[
			"a proxy",
			"export default new Proxy({ a: 1 }, { get: () => 'trap', ownKeys: () => ['a', 'constructor', '__proto__'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })",
		],
		["a proxy that throws", "export default new Proxy({}, { ownKeys() { throw new Error('trap') } })"],
		[
			"a proxy with ten million keys",
			"export default new Proxy({}, { ownKeys: () => Array.from({ length: 1e7 }, (_, i) => 'k' + i) })",
		],
		["a proxy of a function", "export default new Proxy(() => 1, {})"],
		["a revoked proxy", "const p = Proxy.revocable({}, {}); p.revoke(); export default [p.proxy]"],
		[
			"a proxy with an endless prototype",
			"const p = new Proxy({}, { getPrototypeOf: () => p }); export default p",
		],
		["a proxy as an error", "throw new Proxy(new Error('x'), { get() { throw new Error('trap') } })"],
		[
			"an error whose name throws",
			"throw Object.defineProperty(new Error('x'), 'name', { get() { throw 1 } })",
		],
		[
			"an error whose stack is an object",
			"const e = new Error('x'); e.stack = { toString() { return '/root/secret.ts:1:1' } }; throw e.message",
		],
		["an error with a huge message", "throw new Error('x'.repeat(1e7))"],
		["an error as its own cause", "const e = new Error('x'); e.cause = e; export default e"],
		["an error with __proto__", "throw Object.setPrototypeOf({ message: 'x', name: 'y' }, Error.prototype)"],
		["a thrown function", "throw () => 1"],
		["a thrown thenable", "throw { then() { throw 1 }, toString: null, valueOf: null }"],
		["a thenable that never ends", "export default { then(resolve) { resolve({ then: this.then }) } }"],
		["a thenable that throws", "export default { then() { throw new Error('then') } }"],
		["a thenable that resolves twice", "export default { then(a, b) { a(1); b(2); a(3) } }"],
		["a thenable getter", "export default { get then() { given(9); return undefined } }"],
		["an export named then", "export const then = (resolve) => resolve(5); export default 1"],
		["an export that changes", "export let a = 1; export default () => { a = given; return 1 }"],
		["a redefined toStringTag", "export default { [Symbol.toStringTag]: 'Map', get size() { return 1e9 } }"],
		["a false Map", "export default Object.create(Map.prototype)"],
		["a false Date", "export default Object.create(Date.prototype)"],
		["a false array buffer", "export default Object.create(ArrayBuffer.prototype)"],
		["a false typed array", "export default Object.setPrototypeOf({ length: 1e9 }, Uint8Array.prototype)"],
		["a false promise", "export default Object.setPrototypeOf({ then: undefined }, Promise.prototype)"],
		["a Map without its prototype", "export default Object.setPrototypeOf(new Map([[1, 2]]), null)"],
		[
			"a detached buffer",
			"const b = new ArrayBuffer(8); const v = new Uint8Array(b); b.transfer?.(); export default v",
		],
		[
			"a growing buffer",
			"const b = new ArrayBuffer(8, { maxByteLength: 1e6 }); const v = new Uint8Array(b); b.resize(1e6); export default v",
		],
		[
			"a view out of bounds",
			"const b = new ArrayBuffer(8, { maxByteLength: 16 }); const v = new Uint8Array(b, 4, 4); b.resize(2); export default v",
		],
		["shared memory", "export default new SharedArrayBuffer(8)"],
		["a subclassed array", "class A extends Array { get length() { return 1e9 } } export default new A()"],
		[
			"a species of an array",
			"class A extends Array { static get [Symbol.species]() { return Function } } export default new A(1, 2, 3)",
		],
		[
			"a pattern with a hook",
			"const r = /a/; r.exec = () => { throw 1 }; Object.defineProperty(r, 'flags', { get: () => 'gggg' }); export default r",
		],
		[
			"a date with a hook",
			"const d = new Date(0); d.getTime = d.valueOf = d[Symbol.toPrimitive] = () => { throw 1 }; export default d",
		],
		["a boxed symbol", "export default Object(Symbol())"],
		["a generator", "export default (function* () { for (;;) yield 1 })()"],
		[
			"an iterator without end",
			"export default { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }",
		],
		["an async iterator", "export default { async *[Symbol.asyncIterator]() { for (;;) yield 1 } }"],
		["the global object", "export default globalThis"],
		["the module itself", "import * as own from './m.js'; export default own"],
		[
			"new globals",
			"globalThis.process = { env: { SECRET: 1 } }; globalThis.require = () => 1; export default 1",
		],
		[
			"the hand-over",
			"export default [globalThis['\\u01c3'], Reflect.ownKeys(globalThis).includes('\\u01c3')]",
		],
		["assigning to a global", "try { given = 1 } catch {} export default typeof given"],
		[
			"deleting everything",
			"for (const key of Reflect.ownKeys(globalThis)) try { delete globalThis[key] } catch {} given(1); export default 1",
		],
		[
			"freezing everything",
			"for (const key of Reflect.ownKeys(globalThis)) try { Object.freeze(globalThis[key]?.prototype); Object.freeze(globalThis[key]) } catch {} given([1]); export default [1]",
		],
		["a debugger", "debugger; export default 1"],
		["a hashbang", "#!/usr/bin/env node\nexport default 1"],
		["a source map", "export default 1\n//# sourceMappingURL=file:///etc/passwd"],
		["line separators", "export default '\u2028\u2029'"],
		["a nul", "export default '\\0' + 'a\u0000b'"],
		["lone surrogates", "export default '\\ud800' + given('\\udfff')"],
		["an await in a finalizer", "try { throw 1 } catch {} finally { await 0 } export default 1"],
		[
			"unhandled rejections",
			"for (let i = 0; i < 1e4; i++) Promise.reject(new Error('x')); export default 1",
		],
		[
			"a finalizer of garbage",
			"new FinalizationRegistry(() => { throw 1 }).register({}, 1); export default 1",
		],
		[
			"the bridge with numbers of its own",
			"export default given(2 ** 53, -1, { fn: 7, id: 0, kind: 'end' })",
		],
		["nested bridges", "export default given(given(given(given(1))))"],
		[
			"a bridge in a getter of its argument",
			"export default given({ get a() { return given({ get b() { return given(1) } }) } })",
		],
		["a bridge in a loop", "for (let i = 0; i < 300; i++) given(i); export default 1"],
		[
			"ten thousand pending calls",
			"const all = []; try { for (let i = 0; i < 20000; i++) all.push(forever()) } catch (e) { all.message = e.message } export default all.message",
		],
	];

	const endless: readonly (readonly [string, string])[] = [
		["a bomb of patterns", "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))"],
		["a bomb of text", "let s = 'x'; for (;;) s = s.replaceAll('x', 'xxxxxxxx')"],
		[
			"a bomb of JSON",
			"let s = '1'; for (let i = 0; i < 40; i++) s = '[' + s + ',' + s + ']'; JSON.parse(s)",
		],
		["a bomb of entities", "let o = {}; for (let i = 0; i < 60; i++) o = { a: o, b: o }; JSON.stringify(o)"],
		["an endless generator", "function* g() { for (;;) yield g() } export default [...g()]"],
		[
			"a flood of promises",
			"const f = () => Promise.resolve().then(() => { f(); f() }); f(); await new Promise(() => {})",
		],
		["a flood of microtasks", "for await (const x of (async function* () { for (;;) yield 1 })()) ;"],
		["a thenable without end", "await { then(resolve) { resolve({ then: this.then }) } }"],
		["recursion through getters", "const o = { get a() { return this.a } }; o.a"],
		["recursion through proxies", "const p = new Proxy(() => {}, { apply: (t, s, a) => p(...a) }); p()"],
		["recursion through toString", "const o = { toString() { return String(this) } }; String(o)"],
		["recursion through sort", "const f = () => [1, 2].sort(f); f()"],
		["recursion through JSON", "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)"],
		["recursion through eval", "const f = () => eval('f()'); f()"],
		["recursion through patterns", "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))"],
		[
			"recursion through concat",
			"let a = []; a = [a]; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)",
		],
		["a deep destructor", "let o = null; for (let i = 0; i < 5e5; i++) o = { o }; o = null; for (;;);"],
		["a deep list of thens", "let p = Promise.resolve(); for (;;) p = p.then(() => p)"],
		["a large number", "let n = 2n; for (;;) n = n ** 2n"],
		["a large shift", "1n << (1n << 62n); for (;;);"],
		["large arrays", "new Array(2 ** 32 - 1).fill(0)"],
		["large typed arrays", "for (;;) new Float64Array(2 ** 28)"],
		["large strings", "'x'.padEnd(2 ** 30 - 1).split('').map((x) => [x]); for (;;);"],
		["many symbols", "const all = []; for (;;) all.push(Symbol.for('s' + all.length))"],
		["many properties", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i"],
		[
			"many closures",
			"const all = []; for (;;) all.push((() => { const big = new Array(100).fill(0); return () => big })())",
		],
		["many functions from text", "for (let i = 0; ; i++) new Function('return ' + i)"],
		[
			"many modules",
			"for (let i = 0; ; i++) await import('./m.js').then(() => import('nowhere' + i)).catch(() => {})",
		],
		["many errors", "const all = []; for (;;) { try { null.x } catch (e) { all.push(e) } }"],
		["many logs", "for (;;) console.log({ a: [1, 2, 3] })"],
		["many buffers", "for (;;) console.log(new ArrayBuffer(1e6))"],
		[
			"memory that is caught",
			"for (;;) { try { const all = []; for (;;) all.push(new Array(1000)) } catch {} }",
		],
		["a catch of everything", "for (;;) { try { (function f() { f() })() } catch {} }"],
		["waiting in shared memory", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); for (;;);"],
		["sleeping by the clock", "const end = Date.now() + 1e9; while (Date.now() < end);"],
	];

	test("there are at least 150 attempts", () => {
		expect(hostile.length + endless.length + constructors.length).toBeGreaterThanOrEqual(150);
	});

	const options = {
		...capabilities,
		memoryLimitBytes: 16 * 1024 * 1024,
		modules: { "./m.js": "export const a = 1" },
	};
	const globals = { ...capabilities.globals, forever: () => new Promise<never>(() => {}) };

	test.each(hostile)("by %s", async (_, source) => {
		const before = Object.getOwnPropertyNames(Object.prototype).length;
		const outcome = await run(source, { ...options, globals });
		const shown = JSON.stringify([outcome.result, outcome.error], (_key, part) =>
			typeof part === "bigint" ? String(part) : part,
		);
		expect(shown ?? "").not.toMatch(
			/\/work|\/root|node_modules|node:internal|packages\/sandbox|holdfast|\.ts:\d/,
		);
		expect(["success", "error", "link_error", "memory", "terminated"]).toContain(outcome.status);
		expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
		expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
		if (outcome.status === "success") expect(isData(outcome.result)).toBe(true);
	});

	test.each(endless)("nor does it hang by %s", async (_, source) => {
		const handle = sandbox.runCode(source, { ...options, globals });
		const timer = setTimeout(() => handle.terminate("late"), 400);
		const outcome = await handle;
		clearTimeout(timer);
		expect(["error", "memory", "terminated", "link_error"]).toContain(outcome.status);
		expect(outcome.durationMs).toBeLessThan(5000);
		expect(await value("export default 1")).toBe(1);
	});
});

/** Whether a value consists of plain data of this realm, without functions and getters. */
function isData(root: unknown): boolean {
	const kinds = [
		Object,
		Array,
		Map,
		Set,
		Date,
		RegExp,
		ArrayBuffer,
		DataView,
		Error,
		Number,
		String,
		Boolean,
		BigInt,
	] as const;
	const seen = new Set<unknown>();
	const check = (part: unknown): boolean => {
		if (typeof part === "function" || typeof part === "symbol") return false;
		if (typeof part !== "object" || part === null || seen.has(part)) return true;
		seen.add(part);
		if (!ArrayBuffer.isView(part) && !kinds.some((kind) => part instanceof kind)) return false;
		if (part instanceof Map) return [...part].flat().every(check);
		if (part instanceof Set) return [...part].every(check);
		if (ArrayBuffer.isView(part) || part instanceof ArrayBuffer) return true;
		return Object.values(Object.getOwnPropertyDescriptors(part)).every(
			(own) => "value" in own && check(own.value),
		);
	};
	return check(root);
}
