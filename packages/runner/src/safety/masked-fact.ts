// Facts without registered secrets: what was said, given and noted is masked before it is on record.
import type { Redactor } from "@holdfast/redaction";
import { type Message, messageFromJSON, messageToJSON } from "@holdfast/upp";
import type { Fact } from "holdfast";

/** The same fact where it holds no secret. */
export function maskedFact(fact: Fact, { maskSecrets }: Redactor): Fact {
	switch (fact.kind) {
		case "input":
		case "message.added":
		case "message.updated": {
			const message = maskedMessage(fact.message, maskSecrets);
			return message === fact.message ? fact : { ...fact, message };
		}
		case "assistant": {
			const message = maskedMessage(fact.message, maskSecrets);
			const data = maskSecrets(fact.data);
			return message === fact.message && data === fact.data ? fact : { ...fact, message, data };
		}
		case "tools.requested": {
			const calls = maskSecrets(fact.calls);
			return calls === fact.calls ? fact : { ...fact, calls };
		}
		case "tool.started": {
			const input = maskSecrets(fact.input);
			return input === fact.input ? fact : { ...fact, input };
		}
		case "tool.settled": {
			const result = maskSecrets(fact.result);
			const details = maskSecrets(fact.details);
			return result === fact.result && details === fact.details ? fact : { ...fact, result, details };
		}
		case "decision": {
			const answer = maskSecrets(fact.answer);
			return answer === fact.answer ? fact : { ...fact, answer };
		}
		case "note": {
			const value = maskSecrets(fact.value);
			return value === fact.value ? fact : { ...fact, value };
		}
		case "run.resumed": {
			const partial = fact.partial && maskedMessage(fact.partial, maskSecrets);
			return partial === undefined || partial === fact.partial ? fact : { ...fact, partial };
		}
		case "run.ended": {
			const { error, partial } = fact;
			const masked = {
				...(error === undefined ? {} : { error: maskSecrets(error) }),
				...(partial === undefined ? {} : { partial: maskedMessage(partial, maskSecrets) }),
			};
			return masked.error === error && masked.partial === partial ? fact : { ...fact, ...masked };
		}
		default:
			return fact;
	}
}

function maskedMessage<M extends Message>(message: M, maskSecrets: Redactor["maskSecrets"]): M {
	const json = messageToJSON(message);
	const masked = maskSecrets(json);
	return masked === json ? message : (messageFromJSON(masked) as Message as M);
}
