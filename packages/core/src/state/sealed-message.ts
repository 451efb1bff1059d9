// Messages that callers pass to a state are sealed: the message remains the same object but can no longer change. The
// arrays it was built from are copied, so the caller can still change them.
import { type AnyMessage, asMessage, HoldfastError, insteadOf, isMessage, type Message } from "@holdfast/upp";
import { holdFrozenCopy } from "./frozen-copy.ts";

const sealed = new WeakSet<Message>();
const memberNames = ["content", "toolCalls", "results", "metadata"] as const;
/** In milliseconds since the epoch. */
const times = new WeakMap<object, number>();

/**
 * A date cannot be frozen, so each reader gets a new one. All messages share one accessor, so that they keep the same
 * object shape.
 */
const timestamp: PropertyDescriptor & ThisType<object> = {
	get(): Date {
		return new Date(times.get(this) ?? Number.NaN);
	},
	enumerable: true,
};

/**
 * Seals a message and returns it. Sealing again costs nothing. Returns a sealed copy of a frozen message with mutable
 * content, or of a message from another package.
 * @throws HoldfastError `invalid_message` for any other value.
 */
export function sealMessage(message: Message): Message {
	if (sealed.has(message)) return message;
	const own = ownMessage(message);
	for (const name of memberNames) {
		if (Object.hasOwn(own, name))
			holdFrozenCopy(own, name, (own as unknown as Record<string, unknown>)[name]);
	}
	if (own.timestamp instanceof Date) {
		times.set(own, own.timestamp.getTime());
		Object.defineProperty(own, "timestamp", timestamp);
	}
	Object.freeze(own);
	sealed.add(own);
	return own;
}

/** Seals each message of a list. @throws HoldfastError `invalid_message`, also if it is no list. */
export function sealMessages(messages: readonly Message[]): Message[] {
	if (Array.isArray(messages)) return messages.map(sealMessage);
	throw new HoldfastError("invalid_message", "A state takes an array of messages.");
}

/** Returns the message, or a copy if we must not change it. */
function ownMessage(given: Message): AnyMessage {
	const message = asMessage(given);
	if (message === undefined) {
		const what = typeof given === "object" ? "another object" : String(given);
		throw new HoldfastError(
			"invalid_message",
			`A state contains messages, but got ${what}. ${insteadOf(given)}`,
		);
	}
	if (!isMessage(given) || !isClosed(message)) return message;
	const copy = Object.create(Object.getPrototypeOf(message));
	return Object.defineProperties(copy, openMembersOf(message));
}

/** Whether one of its members cannot be replaced. */
function isClosed(message: Message): boolean {
	if (!Object.isExtensible(message)) return true;
	return memberNames.some((name) => Object.getOwnPropertyDescriptor(message, name)?.configurable === false);
}

function openMembersOf(message: Message): PropertyDescriptorMap {
	const members = Object.entries(message).map(([name, value]): [string, PropertyDescriptor] => [
		name,
		{ value, enumerable: true, configurable: true, writable: true },
	]);
	return Object.fromEntries(members);
}
