// A service inside that must never be asked, and the ways in which strangers' addresses lead to it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function startCanary(body = '') {
  let touched = 0
  const server = createServer((_request, response) => {
    touched += 1
    response.end(body)
  })
  server.on('connection', () => {
    touched += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    touched: () => touched,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

export const hostileUrls = (port: number): string[] => [
  `http://127.0.0.1:${port}/`,
  `http://localhost:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://2130706433:${port}/`,
  `http://0x7f.1:${port}/`,
  `http://127.1:${port}/`,
  `http://user:password@127.0.0.1:${port}/`,
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1/',
  'data:text/xml,<rss/>',
  'not a url',
]
