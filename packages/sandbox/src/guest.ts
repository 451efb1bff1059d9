// The code that runs inside the engine before any guest code: the guest's marshaller, and the stand-ins for host
// functions. Guest code may change every prototype afterwards, so it uses only references captured here: no method call
// on a value, no spread, no iteration protocol.

/** File name of its frames, which are removed from stacks. */
export const guestFile = "<sandbox>";

/** Global property that passes values during the setup of a run; deleted before guest code runs. */
export const handOver = "\u01c3";

/** The maximum depth of a value; deeper ones would overflow the stack of code that walks them. */
export const maxDepth = 1000;

/**
 * A program that evaluates to a function, which takes native functions and returns the functions that the worker calls.
 */
export const guestProgram: string = String.raw`((nativeCall, nativeLog, nativePut, nativeTake) => {
"use strict";
const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const free = (method) => (self, ...given) => apply(method, self, given);
const getter = (holder, key) => free(getOwnPropertyDescriptor(holder, key).get);
const none = Symbol("none");
const { isArray } = Array, { parse, stringify } = JSON, { is, setPrototypeOf } = Object, global = globalThis, $String = String;
const ObjectPrototype = Object.prototype, ErrorPrototype = Error.prototype, InternalPrototype = InternalError.prototype;
const $Map = Map, $Set = Set, $Date = Date, $RegExp = RegExp, $Promise = Promise, $Object = Object, $BigInt = BigInt;
const $Error = Error, $TypeError = TypeError, $DataView = DataView, $Array = Array;
const errors = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const views = { __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
	BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array };
const mapGet = free(Map.prototype.get), mapSet = free(Map.prototype.set), mapDelete = free(Map.prototype.delete);
const mapEach = free(Map.prototype.forEach), setEach = free(Set.prototype.forEach), setAdd = free(Set.prototype.add);
const digits = free(BigInt.prototype.toString);
const hasOwn = free(Object.prototype.hasOwnProperty), isBefore = free(Object.prototype.isPrototypeOf);
const slice = free(String.prototype.slice), now = free(Date.prototype.getTime);
const View = getPrototypeOf(Uint8Array.prototype);
const viewName = getter(View, Symbol.toStringTag), viewBuffer = getter(View, "buffer");
const viewOffset = getter(View, "byteOffset"), viewLength = getter(View, "length");
const bytesOf = getter(ArrayBuffer.prototype, "byteLength");
const dataBuffer = getter(DataView.prototype, "buffer"), dataOffset = getter(DataView.prototype, "byteOffset");
const dataLength = getter(DataView.prototype, "byteLength");
const mapSize = getter(Map.prototype, "size"), setSize = getter(Set.prototype, "size");
const patternSource = getter(RegExp.prototype, "source"), patternFlags = getter(RegExp.prototype, "flags");
const boxes = setPrototypeOf([Number, String, Boolean, BigInt].map((type) => free(type.prototype.valueOf)), null);
const foreign = setPrototypeOf([["Promise", Promise.prototype], ["WeakMap", WeakMap.prototype], ["WeakSet", WeakSet.prototype],
	["WeakRef", WeakRef.prototype], ["SharedArrayBuffer", SharedArrayBuffer.prototype], ["Symbol", Symbol.prototype]], null);
const list = () => setPrototypeOf([], null);
const attempt = (read, value) => { try { return read(value); } catch { return none; } };
const define = (holder, key, value) => defineProperty(holder, key,
	{ __proto__: null, value, writable: true, enumerable: true, configurable: true });
const unsupported = (type) => new $TypeError(type + " cannot leave the sandbox: it is not data");

const encode = (root, lenient) => {
	const seen = new $Map(), queue = list(), depths = list();
	let depth = 0;
	const refuse = (type) => { if (lenient) return stringify("[" + type + "]"); throw unsupported(type); };
	const token = (value) => {
		switch (typeof value) {
			case "string": return stringify(value);
			case "boolean": return value ? "true" : "false";
			case "number":
				if (value !== value) return '["N"]';
				if (value === Infinity) return '["+"]';
				if (value === -Infinity) return '["-"]';
				return is(value, -0) ? '["0"]' : "" + value;
			case "undefined": return '["u"]';
			case "bigint": return '["b","' + digits(value, 16) + '"]';
			case "function": return refuse("a function");
			case "symbol": return refuse("a symbol");
		}
		if (value === null) return "null";
		let index = mapGet(seen, value);
		if (index === undefined) {
			if (depth >= ${maxDepth}) {
				if (lenient) return '"[too deep]"';
				throw new errors.RangeError("A value that leaves the sandbox has at most ${maxDepth} levels");
			}
			index = queue.length;
			mapSet(seen, value, index);
			queue[index] = value;
			depths[index] = depth + 1;
		}
		return '["@",' + index + "]";
	};
	const members = (value) => {
		const keys = ownKeys(value);
		let text = "";
		for (let i = 0; i < keys.length; i++) {
			const key = keys[i];
			if (typeof key !== "string") continue;
			const property = getOwnPropertyDescriptor(value, key);
			if (property === undefined || !property.enumerable) continue;
			text += "," + stringify(key) + "," + token(value[key]);
		}
		return text;
	};
	const elements = (value) => {
		const given = value.length, length = typeof given === "number" && given > 0 ? given : 0;
		let text = "";
		if (length <= 100000) {
			for (let i = 0; i < length; i++) text += "," + (hasOwn(value, i) ? token(value[i]) : '["h"]');
			return '["a"' + text + "]";
		}
		const keys = ownKeys(value);
		if (length > 100000 + 10 * keys.length) throw unsupported("an array of length " + length + " that is almost empty");
		for (let i = 0; i < keys.length; i++) {
			const key = keys[i];
			if (typeof key !== "string" || key !== "" + (key >>> 0)) continue;
			text += "," + key + "," + token(value[key]);
		}
		return '["s",' + length + text + "]";
	};
	const node = (value) => {
		if (isArray(value)) return elements(value);
		const prototype = getPrototypeOf(value);
		if (prototype === ObjectPrototype || prototype === null) return '["o"' + members(value) + "]";
		let text = "";
		if (attempt(mapSize, value) !== none) {
			mapEach(value, (entry, key) => { text += "," + token(key) + "," + token(entry); });
			return '["m"' + text + "]";
		}
		if (attempt(setSize, value) !== none) {
			setEach(value, (entry) => { text += "," + token(entry); });
			return '["S"' + text + "]";
		}
		const time = attempt(now, value);
		if (time !== none) return '["d",' + token(time) + "]";
		const view = viewName(value);
		if (view !== undefined)
			return '["t","' + view + '",' + token(viewBuffer(value)) + "," + viewOffset(value) + "," + viewLength(value) + "]";
		if (attempt(bytesOf, value) !== none) {
			const index = attempt(nativePut, value);
			if (index === none) throw unsupported("a detached buffer");
			return '["B",' + index + "]";
		}
		const data = attempt(dataLength, value);
		if (data !== none) return '["t","DataView",' + token(dataBuffer(value)) + "," + dataOffset(value) + "," + data + "]";
		if (isBefore(ErrorPrototype, value)) {
			const name = value.name, message = value.message;
			return '["e",' + stringify(typeof name === "string" ? name : "Error") + ","
				+ stringify(typeof message === "string" ? message : "")
				+ (hasOwn(value, "cause") ? "," + token(value.cause) : "") + "]";
		}
		for (let i = 0; i < foreign.length; i++)
			if (isBefore(foreign[i][1], value)) {
				if (lenient) return '["o"]';
				throw unsupported("a " + foreign[i][0]);
			}
		const source = attempt(patternSource, value);
		if (source !== none) return '["r",' + stringify(source) + "," + stringify(patternFlags(value)) + "]";
		for (let i = 0; i < boxes.length; i++) {
			const primitive = attempt(boxes[i], value);
			if (primitive !== none) return '["w",' + token(primitive) + "]";
		}
		return '["o"' + members(value) + "]";
	};
	const first = token(root);
	let nodes = "";
	for (let i = 0; i < queue.length; i++) {
		depth = depths[i];
		nodes += (i === 0 ? "" : ",") + node(queue[i]);
	}
	return '{"r":' + first + ',"n":[' + nodes + "]}";
};

const waiting = new $Map();
const invoke = (id, given) => {
	const reply = nativeCall(id, encode(given, false));
	const kind = reply[0], body = slice(reply, 1);
	if (kind === "v") return decode(body);
	// The run was stopped during the call: no instruction of the guest follows.
	if (kind === "x") for (;;);
	throw decode(body);
};
const bridge = (id, name) => {
	const bound = (...given) => invoke(id, given);
	defineProperty(bound, "name", { __proto__: null, value: name, configurable: true });
	return bound;
};
const makeError = (name, message) => {
	const type = errors[name];
	if (type !== undefined) return new type(message);
	const error = new $Error(message);
	if (name !== "Error") defineProperty(error, "name", { __proto__: null, value: name, writable: true, configurable: true });
	return error;
};
const decode = (text) => {
	const wire = parse(text), nodes = wire.n, made = list();
	const value = (token) => {
		if (!isArray(token)) return token;
		switch (token[0]) {
			case "@": return made[token[1]];
			case "u": return undefined;
			case "N": return NaN;
			case "+": return Infinity;
			case "-": return -Infinity;
			case "0": return -0;
			case "b": return $BigInt(token[1]);
		}
	};
	for (let i = 0; i < nodes.length; i++) {
		const node = nodes[i];
		switch (node[0]) {
			case "a": made[i] = []; break;
			case "s": made[i] = new $Array(node[1]); break;
			case "o": made[i] = {}; break;
			case "m": made[i] = new $Map(); break;
			case "S": made[i] = new $Set(); break;
			case "d": made[i] = new $Date(value(node[1])); break;
			case "r": made[i] = new $RegExp(node[1], node[2]); break;
			case "B": made[i] = nativeTake(node[1]); break;
			case "e": made[i] = makeError(node[1], node[2]); break;
			case "w": made[i] = $Object(value(node[1])); break;
			case "f": made[i] = bridge(node[1], node[2]); break;
			case "p": made[i] = new $Promise((resolve, reject) => mapSet(waiting, node[1], { __proto__: null, resolve, reject })); break;
		}
	}
	for (let i = 0; i < nodes.length; i++) {
		const node = nodes[i];
		if (node[0] !== "t") continue;
		made[i] = node[1] === "DataView" ? new $DataView(value(node[2]), node[3], node[4])
			: new views[node[1]](value(node[2]), node[3], node[4]);
	}
	for (let i = 0; i < nodes.length; i++) {
		const node = nodes[i], target = made[i];
		switch (node[0]) {
			case "a":
				for (let k = 1; k < node.length; k++)
					if (isArray(node[k]) && node[k][0] === "h") target.length = k;
					else define(target, k - 1, value(node[k]));
				break;
			case "s": for (let k = 2; k < node.length; k += 2) define(target, node[k], value(node[k + 1])); break;
			case "o": for (let k = 1; k < node.length; k += 2) define(target, node[k], value(node[k + 1])); break;
			case "m": for (let k = 1; k < node.length; k += 2) mapSet(target, value(node[k]), value(node[k + 1])); break;
			case "S": for (let k = 1; k < node.length; k++) setAdd(target, value(node[k])); break;
			case "e": if (node.length > 3) define(target, "cause", value(node[3])); break;
		}
	}
	return value(wire.r);
};

const seeded = (a, b, c, d) => () => {
	const t = (a + b | 0) + d | 0;
	d = d + 1 | 0; a = b ^ b >>> 9; b = c + (c << 3) | 0; c = (c << 21 | c >>> 11) + t | 0;
	return (t >>> 0) / 4294967296;
};
deleteProperty(global, "queueMicrotask");

let inputs;
return {
	start(text) {
		const given = decode(text), seed = given.seed;
		define(Math, "random", seeded(seed[0], seed[1], seed[2], seed[3]));
		inputs = given.args;
		define(global, "${handOver}", given);
		if (!given.captureConsole) return;
		const console = {};
		for (const level of ["log", "info", "warn", "error", "debug"])
			define(console, level, (...given) => { nativeLog(level, encode(given, true)); });
		define(given.globals, "console", console);
	},
	begin() { deleteProperty(global, "${handOver}"); },
	select(module, name) {
		if (!hasOwn(module, name)) return undefined;
		const chosen = module[name], given = inputs;
		if (typeof chosen !== "function" && given.length > 0)
			throw new $TypeError("The export " + stringify(name) + " is not a function, so it takes no arguments");
		const outcome = typeof chosen === "function" ? apply(chosen, undefined, given) : chosen;
		return new $Promise((resolve) => resolve(outcome));
	},
	encode(value) { return encode(value, false); },
	settle(id, isFulfilled, text) {
		const { resolve, reject } = mapGet(waiting, id);
		mapDelete(waiting, id);
		let value;
		try { value = decode(text); } catch (error) { return reject(error); }
		isFulfilled ? resolve(value) : reject(value);
	},
	describe(error) {
		const text = (read, otherwise) => {
			try { const value = read(); return value === undefined ? otherwise : slice($String(value), 0, 16384); }
			catch { return otherwise; }
		};
		const isError = typeof error === "object" && error !== null && isBefore(ErrorPrototype, error);
		const name = isError ? text(() => error.name, "Error") : "Error";
		const message = isError ? text(() => error.message, "") : text(() => $String(error), "a value without a string form was thrown");
		const stack = isError ? text(() => error.stack, "") : "";
		const memory = isError && isBefore(InternalPrototype, error) && message === "out of memory";
		return "[" + stringify(name) + "," + stringify(message) + "," + stringify(stack) + "," + (memory ? "true" : "false") + "]";
	},
};
})`;
