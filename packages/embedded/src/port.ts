import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Free at this moment; somebody may still take it before Postgres does. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenBriefly(port)) !== undefined
}

/**
 * Prefers ports below those the kernel gives to outgoing connections (32768 and up on Linux, 49152 elsewhere).
 * While a server is down, a client that retries 127.0.0.1:port from that range sooner or later connects to itself,
 * and then holds the port that the server wants back.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const port = randomInt(15_000, 32_000)
    if (await isPortFree(port)) return port
  }
  const anyPort = await listenBriefly(0)
  if (anyPort === undefined) throw new Error('The kernel has no free port on 127.0.0.1')
  return anyPort
}

async function listenBriefly(port: number): Promise<number | undefined> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}
