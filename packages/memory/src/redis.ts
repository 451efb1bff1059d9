// The entry of the clients over Redis.
export type { Clients } from "./contract/index.ts";
export { type RedisOptions, redisClients } from "./redis/index.ts";
