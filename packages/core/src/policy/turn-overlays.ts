// Overlays of one turn: context that the model sees until the turn ends and that is never recorded.
import type { Message, UserMessage } from "@holdfast/upp";

interface Placed {
	readonly overlay: UserMessage;
	/** The message it follows. Undefined: it precedes the turn's own input. */
	readonly following: string | undefined;
}

export class TurnOverlays {
	readonly #inputId: string;
	#fresh: UserMessage[] = [];
	#placed: Placed[] = [];
	#asked = false;

	/** `inputId` is the id of the message that started the turn. */
	constructor(inputId: string) {
		this.#inputId = inputId;
	}

	/** Records that the model has answered in this turn: overlays accepted from now on follow what it saw. */
	answered(): void {
		this.#asked = true;
	}

	accept(overlay: UserMessage): void {
		this.#fresh.push(overlay);
	}

	/** Whether some context has not been seen by any model call of the turn, although one was made. */
	get unseen(): boolean {
		return this.#asked && this.#fresh.length > 0;
	}

	/** Returns the messages with the overlays in their positions. New overlays are assigned a permanent position. */
	view(messages: readonly Message[]): readonly Message[] {
		const last = messages.at(-1)?.id;
		for (const overlay of this.#fresh)
			this.#placed.push({ overlay, following: this.#asked ? last : undefined });
		this.#fresh = [];
		this.#asked = true;
		if (this.#placed.length === 0) return messages;
		const seen: Message[] = [];
		const left = Map.groupBy(this.#placed, ({ following }) => following);
		const put = (following: string | undefined): void => {
			for (const { overlay } of left.get(following) ?? []) seen.push(overlay);
			left.delete(following);
		};
		for (const message of messages) {
			if (message.id === this.#inputId) put(undefined);
			seen.push(message);
			put(message.id);
		}
		// The message it followed may have been summarised.
		for (const following of left.keys()) put(following);
		return seen;
	}
}
