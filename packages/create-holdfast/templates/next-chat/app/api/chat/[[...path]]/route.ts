// All routes of useChat: send, stream, resume, stop, load.
import { chats } from "../../../../agent/service.ts";

const answer = async (request: Request): Promise<Response> => (await chats()).fetch(request);

export { answer as GET, answer as POST };
export const dynamic = "force-dynamic";
