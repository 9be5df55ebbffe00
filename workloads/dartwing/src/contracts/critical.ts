// What people wait for: faxes. No handler code.
import { EgressBudgetExceeded, EgressFailed } from '@millrace/egress'
import { defineService } from 'millrace'
import { z } from 'zod'
import { GatewayUnwell } from '../fax/answers.ts'
import { defineMethod, id } from '../jobs/method.ts'
import { TEMPLATE_NAMES } from '../notifications/templates.ts'

/** Only what the gateway itself suffers from counts: bad numbers of one organization must not stop it for all. */
export const faxGateway = defineService('fax-gateway', {
  counts: (error) =>
    error instanceof GatewayUnwell || error instanceof EgressFailed || error instanceof EgressBudgetExceeded,
})

/** Puts a notification into an inbox and pushes it. With a template the handler writes the row: a repeat adds nothing. */
export const sendNotification = defineMethod('dartwing_core.notifications.send_notification', {
  payload: {
    notification: id.optional(),
    template: z.enum(TEMPLATE_NAMES).optional(),
    about: z.string().min(1).max(140).optional(),
    to: z.union([z.literal('admins'), z.email()]).optional(),
  },
  rule: {
    holds: ({ notification, template, about }) =>
      (notification === undefined) === (template !== undefined && about !== undefined),
    message: 'expected either "notification", or "template" with "about"',
  },
  result: z.strictObject({ pushed: z.int(), gone: z.int() }),
  dedupe: { key: ({ notification, template, about, to = 'admins' }) => notification ?? `${template}:${about}:${to}` },
  examples: [
    { organization: 'ORG-2025-00001', notification: '1' },
    { organization: 'ORG-2025-00001', template: 'stuck_job', about: '31', to: 'admins' },
  ],
})

/** Sends a document to a number, and waits for the end of the call without holding a slot. */
export const sendFax = defineMethod('dartwing_fax.send_fax', {
  payload: { fax: id },
  result: z.strictObject({ gatewayId: z.string(), pages: z.int(), seconds: z.number() }),
  dedupe: { key: ({ fax }) => fax },
  services: [faxGateway],
  attributes: ['fax'],
  examples: [{ organization: 'ORG-2025-00001', fax: '1' }],
})
