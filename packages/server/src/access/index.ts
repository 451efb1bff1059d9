// Entry point of access: callers, rates, origins, and stream limits.
export {
	type Authenticate,
	type Authenticator,
	authenticateByHook,
	authenticateByKey,
} from "./authenticate.ts";
export { AttemptLimiter, type FailedAttempts } from "./failed-attempts.ts";
export {
	answerPreflight,
	checkOrigin,
	corsHeaders,
	isLoopback,
	nameOf,
	type OriginRules,
} from "./origins.ts";
export { addressInHeader, peerName } from "./peer.ts";
export { type RateLimit, RateLimiter } from "./rate-limit.ts";
export { type ReleaseSlot, Slots } from "./slots.ts";
