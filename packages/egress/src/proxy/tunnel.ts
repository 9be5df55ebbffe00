// CONNECT: bytes both ways between a program and one host and port, of which the proxy understands none.
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { EgressRefused } from '../errors.ts'
import { type Guard, portOf } from '../guard.ts'
import type { Traffic } from './traffic.ts'

interface TunnelFacts {
  readonly socket: Socket
  /** What the program has sent already, behind its request. */
  readonly head: Buffer
  readonly guard: Guard
  readonly traffic: Traffic
}

export async function tunnel(authority: string, { socket, head, guard, traffic }: TunnelFacts): Promise<void> {
  try {
    const { hostname, port } = targetOf(authority)
    const addresses = await guard.resolve(hostname, port)
    const outside = await traffic.open({ hostname, port, addresses })
    if (socket.destroyed) return void outside.destroy()
    socket.once('close', () => outside.destroy())
    outside.once('close', () => socket.destroy())
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    outside.write(head)
    // Each stands in two pipelines, with many listeners.
    for (const each of [socket, outside]) each.setMaxListeners(20)
    const ways = [pipeline(socket, traffic.meter(), outside), pipeline(outside, traffic.meter(), socket)]
    await Promise.allSettled(ways)
  } catch (error) {
    const isRefused = error instanceof EgressRefused
    traffic.count(isRefused ? 'refused' : 'failed')
    refuse(socket, isRefused ? 403 : 502, isRefused ? error.code : 'Bad Gateway')
  }
}

/** Ends a connection with an answer of ours, before there is a tunnel. */
export function refuse(socket: Socket, status: number, text: string, headers: Record<string, string> = {}): void {
  const lines = Object.entries({ ...headers, 'content-length': '0', connection: 'close' })
  socket.end(`HTTP/1.1 ${status} ${text}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
}

/** The host as URLs write it, so that the guard knows every spelling of an address. */
function targetOf(authority: string): { hostname: string; port: number } {
  if (!/^[^/?#@\\\s]+:\d{1,5}$/.test(authority) || !URL.canParse(`http://${authority}`)) {
    throw new EgressRefused('invalid_url', 'CONNECT needs a host and a port, such as example.com:443.')
  }
  const url = new URL(`http://${authority}`)
  return { hostname: url.hostname, port: portOf(url) }
}
