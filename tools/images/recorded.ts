// The pictures in docs/images that are recorded from programs. Two recordings are never the same to the byte.
/** The names of the files. */
export const recorded: readonly string[] = [
	"chat.svg",
	"inspector-approval.png",
	"inspector-sessions.png",
	"inspector-timeline.png",
];
