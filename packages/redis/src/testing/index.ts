// @millrace/redis/testing: a real Redis for tests, and a way to break its connections.
export { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts'
export { findRedis, type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts'
