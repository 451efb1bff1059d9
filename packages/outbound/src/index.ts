// The main entry: requests to public addresses only.
export {
	type OutboundOptions,
	type OutboundRequest,
	outbound,
	type ResolveHost,
	type SendRequest,
} from "./outbound.ts";
export { isPublicAddress } from "./public-address.ts";
export type { OutboundResponse } from "./response.ts";
