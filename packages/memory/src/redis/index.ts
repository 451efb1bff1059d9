// Entry point of the clients over Redis.
export { type RedisOptions, redisClients } from "./redis-clients.ts";
