/** When the server starts, answers that an earlier process left unfinished continue, before any page requests them. */
export async function register(): Promise<void> {
	if (process.env.NEXT_RUNTIME !== "nodejs") return;
	const { chats } = await import("./agent/service.ts");
	await chats();
}
