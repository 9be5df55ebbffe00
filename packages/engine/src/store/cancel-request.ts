import { connect } from 'node:net'
import type pg from 'pg'

const CANCEL_REQUEST_CODE = 80_877_102
const DEADLINE_MS = 2_000

/**
 * Asks the server to end what this connection is running. A backend that waits for a lock does not notice that its
 * client has gone: without this, missed deadlines pile up backends. Best effort, never fails.
 */
export function cancelRequest(client: pg.ClientBase): void {
  const { host, port, processID, secretKey } = client as pg.ClientBase & {
    host?: string
    port?: number
    processID?: number | null
    secretKey?: number | null
  }
  if (!host || host.startsWith('/') || !port || processID == null || typeof secretKey !== 'number') return
  const message = Buffer.alloc(16)
  message.writeInt32BE(16, 0)
  message.writeInt32BE(CANCEL_REQUEST_CODE, 4)
  message.writeInt32BE(processID, 8)
  message.writeInt32BE(secretKey, 12)
  const socket = connect({ host, port })
  socket.setTimeout(DEADLINE_MS, () => socket.destroy())
  socket.on('error', () => {})
  socket.on('connect', () => socket.end(message))
  socket.unref()
}
