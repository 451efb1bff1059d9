// A new chat: its id is in the address, so that a reload opens it again.
import { redirect } from "next/navigation";

export const dynamic = "force-dynamic";

export default function Page(): never {
	redirect(`/chat/${crypto.randomUUID()}`);
}
