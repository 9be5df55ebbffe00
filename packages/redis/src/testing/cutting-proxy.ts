// Stands between a client and a server, and cuts the connection before, or after, a command has reached the server.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy extends AsyncDisposable {
  readonly url: string
  /** Lets requests through and keeps answers back, until `pass`. */
  holdAnswers(): void
  pass(): void
  /** Ends every connection. */
  cut(): void
  /** New connections go to another server. */
  switchTo(port: number): void
}

export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let target = port
  let isHolding = false
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (!isHolding) client.write(chunk)
    })
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        client.destroy()
        upstream.destroy()
      })
    }
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const address = server.address()
  const cut = () => {
    for (const [client] of pairs) client.destroy()
  }
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    holdAnswers() {
      isHolding = true
    },
    pass() {
      isHolding = false
    },
    cut,
    switchTo(to) {
      target = to
      cut()
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
