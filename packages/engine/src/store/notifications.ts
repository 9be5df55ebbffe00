// What processes tell each other through NOTIFY. A hint, never a condition: polling finds the same work later.
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

/** One channel per schema, so that two installations in one database do not wake each other. */
export const channelOf = (schema: string): string => `${schema}_pulse`

export type Message =
  | { kind: 'work'; queue: string }
  | { kind: 'reconcile'; workerId: string }
  | { kind: 'echo'; token: string }

export function encodeMessage(message: Message): string {
  switch (message.kind) {
    case 'work':
      return `w:${message.queue}`
    case 'reconcile':
      return `r:${message.workerId}`
    case 'echo':
      return `e:${message.token}`
  }
}

export function decodeMessage(payload: string): Message | undefined {
  const rest = payload.slice(2)
  if (payload.startsWith('w:')) return { kind: 'work', queue: rest }
  if (payload.startsWith('r:')) return { kind: 'reconcile', workerId: rest }
  if (payload.startsWith('e:')) return { kind: 'echo', token: rest }
  return undefined
}

export async function notify(session: Session, schema: string, messages: readonly Message[]): Promise<void> {
  await session.run('notify', [channelOf(schema), textArray(messages.map(encodeMessage))])
}
