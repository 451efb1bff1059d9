import { Chat } from "./chat.tsx";

export default async function Page({ params }: { readonly params: Promise<{ id: string }> }) {
	return <Chat id={(await params).id} />;
}
