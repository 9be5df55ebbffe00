import { inspect } from 'node:util'
import { EgressError } from '@millrace/egress'
import { expect, test } from 'vitest'
import { egressTo, failureOf, startServer } from './support/servers.ts'

test('no error shows a path, a query, a credential, a header or a body', async () => {
  await using server = await startServer((request, response) => {
    if (request.url?.startsWith('/inwards'))
      response.writeHead(302, { location: 'http://10.0.0.1/canary?canary' }).end()
    else if (request.url?.startsWith('/loop')) response.writeHead(302, { location: '?canary' }).end()
    else if (request.url?.startsWith('/gone')) request.socket.destroy()
    else if (request.url?.startsWith('/large')) response.end('canary'.repeat(1000))
    else if (request.url?.startsWith('/zip')) response.writeHead(200, { 'content-encoding': 'br' }).end('canary')
  })
  const resolve = async () => Promise.reject(new Error('no answer'))
  await using egress = egressTo([server], { resolve, budget: { headersMs: 100, maxBytes: 1000 } })
  const init = { method: 'POST', body: 'canary', headers: { authorization: 'Bearer canary', 'x-key': 'canary' } }
  const calls = [
    'not a URL: canary',
    'canary://example.com'.replace('canary', 'ftp'),
    'http://canary:canary@example.com/',
    'http://10.0.0.1/canary?token=canary',
    'http://example.com/canary?token=canary',
    'http://example.com:81/canary',
    ...['/inwards', '/loop', '/gone', '/large', '/zip', '/slow'].map(
      (path) => `${server.origin}${path}/canary?t=canary`,
    ),
  ]
  const errors = await Promise.all(
    calls.map((url) => failureOf(egress.fetch(url, init).then((response) => response.text()))),
  )
  errors.push(await failureOf(egress.fetch(server.origin, { headers: { 'x-key': 'canary\r\n canary' } })))
  errors.push(await failureOf(egress.fetch(server.origin, { method: 'GET', body: 'canary' })))
  for (const error of errors) {
    expect(error).toBeInstanceOf(EgressError)
    // With its causes and fields, as a logger writes it.
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary')
  }
})
