// A way to a local server that can be closed: while it is, connections are refused, as when a server is down.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Gate extends AsyncDisposable {
  readonly port: number
  /** Lets connections through to that address. */
  open(target: string): Promise<void>
  close(): Promise<void>
}

/** It begins closed. Its port is its own for as long as it is needed. */
export async function closedGate(): Promise<Gate> {
  let target = new URL('tcp://127.0.0.1')
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const inner = connect(Number(target.port), target.hostname)
    for (const each of [client, inner]) {
      sockets.add(each)
      each.on('error', () => {})
      each.on('close', () => sockets.delete(each))
    }
    client.pipe(inner).pipe(client)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  await close()
  const open = (address: string) => {
    target = new URL(address)
    return listen(port)
  }
  return { port, open, close, [Symbol.asyncDispose]: close }
}
