// What an organization does all day: webhooks, mail, changes of records. No handler code.
import { defineService } from 'millrace'
import { z } from 'zod'
import { MailServerUnwell } from '../email/answers.ts'
import { defineMethod, id } from '../jobs/method.ts'

const organization = 'ORG-2025-00001'

/** Delivers one event to an endpoint. A slow endpoint holds at most two of the slots. */
export const dispatchWebhook = defineMethod('dartwing_core.webhooks.dispatch', {
  payload: { endpoint: id, delivery: id },
  result: z.strictObject({ status: z.int(), ms: z.int() }),
  dedupe: { key: ({ delivery }) => delivery },
  keyLimit: { key: ({ endpoint }) => endpoint, concurrency: 2 },
  attributes: ['endpoint', 'delivery'],
  examples: [{ organization, endpoint: '1', delivery: '1' }],
})

/** A refused recipient says nothing about the server. */
export const smtp = defineService('smtp', { counts: (error) => error instanceof MailServerUnwell })

/** Sends one mail. */
export const sendEmail = defineMethod('dartwing_core.email.send', {
  payload: { email: id },
  result: z.strictObject({ messageId: z.string(), accepted: z.boolean() }),
  dedupe: { key: ({ email }) => email },
  services: [smtp],
  attributes: ['email'],
  examples: [{ organization, email: '1' }],
})

/** Merges what a device changed while it was offline. A device's deltas run one after another. */
export const processDelta = defineMethod('dartwing_core.sync.process_delta', {
  payload: { device: z.string().regex(/^[a-z0-9-]{1,40}$/), delta: z.uuid() },
  result: z.strictObject({ applied: z.int(), unchanged: z.int(), conflicts: z.int(), serverSeq: z.number() }),
  order: { key: ({ device }) => device, onDead: 'continue' },
  dedupe: { key: ({ delta }) => delta },
  attributes: ['device', 'delta'],
  examples: [{ organization, device: 'phone-1', delta: '7f3c1a52-3b0e-4a64-9c4e-0d2f8f1b6a11' }],
})

/** Sets fields of many records of one kind. No queue lists it, so it runs in `default`. */
export const updateDocuments = defineMethod('dartwing_core.crud.update_documents', {
  payload: {
    doctype: z.enum(['Task', 'Contact']),
    names: z.array(z.string().min(1).max(140)).min(1).max(1_000),
    change: z.record(z.string().min(1).max(60), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  },
  result: z.strictObject({ updated: z.int(), missing: z.array(z.string()) }),
  attributes: ['doctype'],
  examples: [{ organization, doctype: 'Task', names: ['TASK-1'], change: { status: 'Done' } }],
})
