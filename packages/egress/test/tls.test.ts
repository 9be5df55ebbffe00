import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { createEgress } from '@millrace/egress'
import { expect, test } from 'vitest'
import { certificate, privateKey } from './support/certificate.ts'
import { type Answer, failureOf, startServer } from './support/servers.ts'

const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

async function startTlsServer(answer: Answer) {
  const names: unknown[] = []
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    names.push((request.socket as TLSSocket & { servername: unknown }).servername)
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as { port: number }).port,
    /** The names that clients asked for during the handshake. */
    names,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

test('TLS asks for the name and checks the certificate for it, although the socket is pinned', async () => {
  await using server = await startTlsServer((_request, response) => response.end('secure'))
  const targets = ['partner.test', 'other.test'].map((host) => `${host}:${server.port}`)
  await using egress = createEgress({ allow: targets, resolve, ca: [certificate] })
  expect(await (await egress.fetch(`https://${targets[0]}/`)).text()).toBe('secure')
  expect(server.names).toEqual(['partner.test'])
  expect(await failureOf(egress.fetch(`https://${targets[1]}/`))).toMatchObject({ code: 'tls_failed' })
  await using strict = createEgress({ allow: targets, resolve })
  expect(await failureOf(strict.fetch(`https://${targets[0]}/`))).toMatchObject({ code: 'tls_failed' })
  expect(server.names).toEqual(['partner.test'])
})

test('a redirect from https to http is refused unless the program allows it', async () => {
  await using plain = await startServer((_request, response) => response.end('plain'))
  await using server = await startTlsServer((_request, response) => {
    response.writeHead(302, { location: `${plain.origin}/path?token=canary` }).end()
  })
  const options = { allow: [`partner.test:${server.port}`, plain.target], resolve, ca: [certificate] }
  await using egress = createEgress(options)
  const error = await failureOf(egress.fetch(`https://partner.test:${server.port}/`))
  expect(error).toMatchObject({ code: 'redirect_refused', message: expect.stringContaining('from https to http') })
  expect(error.message).not.toContain('canary')
  expect(plain.requests).toEqual([])
  await using lenient = createEgress({ ...options, allowDowngrade: true })
  expect(await (await lenient.fetch(`https://partner.test:${server.port}/`)).text()).toBe('plain')
})

test('a server that speaks no TLS is a failed TLS connection', async () => {
  await using plain = await startServer((_request, response) => response.end())
  await using egress = createEgress({ allow: [plain.target] })
  expect(await failureOf(egress.fetch(plain.origin.replace('http', 'https')))).toMatchObject({ code: 'tls_failed' })
})
