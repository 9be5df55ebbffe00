// What people wait for: faxes. No handler code.
import { EgressBudgetExceeded, EgressFailed } from '@millrace/egress'
import { defineService } from 'millrace'
import { z } from 'zod'
import { GatewayUnwell } from '../fax/answers.ts'
import { defineMethod, id } from '../jobs/method.ts'

/** Only what the gateway itself suffers from counts: bad numbers of one organization must not stop it for all. */
export const faxGateway = defineService('fax-gateway', {
  counts: (error) =>
    error instanceof GatewayUnwell || error instanceof EgressFailed || error instanceof EgressBudgetExceeded,
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
