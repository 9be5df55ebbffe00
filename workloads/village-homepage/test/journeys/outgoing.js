// Loaded into every process of `npm start` by a test: writes down each connection and each look-up that leads off this machine.

import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+|localhost|0\.0\.0\.0|::)$/i

const note = (what, where) => {
  if (!LOOPBACK.test(where)) appendFileSync(process.env.OUTGOING_LOG, `${process.pid} ${what} ${where}\n`)
}

appendFileSync(process.env.OUTGOING_LOG, `${process.pid} is watched\n`)

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  const { path, host } = typeof first === 'object' && first !== null ? first : { host: second, path: undefined }
  if (path === undefined && !(typeof first === 'string' && first.startsWith('/')))
    note('connects to', host ?? 'localhost')
  return connect.apply(this, args)
}

const send = dgram.Socket.prototype.send
dgram.Socket.prototype.send = function (...args) {
  const address = args.find((arg, i) => i > 0 && typeof arg === 'string')
  note('sends to', address ?? 'localhost')
  return send.apply(this, args)
}

for (const api of [dns, dns.promises])
  for (const name of Object.keys(api).filter((key) => /^(lookup|resolve.*)$/.test(key))) {
    const original = api[name]
    if (typeof original !== 'function') continue
    api[name] = function (...args) {
      note('looks up', String(args[0]))
      return original.apply(this, args)
    }
  }
syncBuiltinESMExports()
