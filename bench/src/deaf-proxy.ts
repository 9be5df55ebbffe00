// A proxy before Postgres that swallows notifications, as a connection pooler in transaction mode does: whoever goes
// through it must poll.
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** Every message of the server has a type and a length, which counts itself but not the type. */
const HEADER_BYTES = 5
const NOTIFICATION = 'A'.charCodeAt(0)

export interface DeafProxy extends AsyncDisposable {
  /** Stands for the server's URL. */
  readonly url: string
}

export async function openDeafProxy(databaseUrl: string): Promise<DeafProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = createConnection({ host: target.hostname, port: Number(target.port || 5432), noDelay: true })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on(
      'data',
      withoutNotifications((message) => client.write(message)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function withoutNotifications(pass: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= HEADER_BYTES) {
      const length = 1 + rest.readUInt32BE(1)
      if (rest.length < length) return
      if (rest[0] !== NOTIFICATION) pass(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}
