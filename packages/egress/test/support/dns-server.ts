// A DNS server on loopback, asked by the platform's resolver over UDP. It answers A records from a script.
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import type { Resolve } from '@millrace/egress'

/** Addresses of one answer, or a failure: 2 is SERVFAIL, 3 is NXDOMAIN. */
export type DnsAnswer = readonly string[] | number

export interface DnsServer extends AsyncDisposable {
  /** For `createEgress({ resolve })`. */
  readonly resolve: Resolve
  readonly questions: string[]
}

/** The answers are given one after another, the last one again and again. */
export async function startDnsServer(answers: readonly DnsAnswer[]): Promise<DnsServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, peer) => {
    const answer = answers[Math.min(questions.length, answers.length - 1)] ?? 2
    questions.push(nameIn(query))
    socket.send(reply(query, answer), peer.port, peer.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    questions,
    async resolve(hostname) {
      return (await resolver.resolve4(hostname)).map((address) => ({ address, family: 4 }))
    },
    async [Symbol.asyncDispose]() {
      resolver.cancel()
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}

/** Header and question of the query, then an A record with a time to live of 0 for each address. */
function reply(query: Buffer, answer: DnsAnswer): Buffer {
  const questionEnd = query.indexOf(0, 12) + 5
  const head = Buffer.from(query.subarray(0, questionEnd))
  const addresses = typeof answer === 'number' ? [] : answer
  head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([head, ...records])
}
