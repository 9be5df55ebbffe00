// What people wait for: faxes. No handler code.
import { EgressBudgetExceeded, EgressFailed } from '@millrace/egress'
import { defineService } from 'millrace'
import { z } from 'zod'
import { KeycloakUnwell } from '../auth/answers.ts'
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

/** Only what Keycloak itself suffers from counts. */
export const keycloak = defineService('keycloak', {
  counts: (error) =>
    error instanceof KeycloakUnwell || error instanceof EgressFailed || error instanceof EgressBudgetExceeded,
})

/** Makes the local sessions of a user those that Keycloak has. */
export const syncKeycloakSession = defineMethod('dartwing_core.auth.sync_keycloak_session', {
  payload: { keycloakUser: z.uuid(), reason: z.enum(['login', 'logout', 'admin_event']) },
  result: z.strictObject({ opened: z.int(), closed: z.int(), kept: z.int() }),
  dedupe: { key: ({ keycloakUser }) => keycloakUser, mode: 'waiting' },
  services: [keycloak],
  examples: [
    { organization: 'ORG-2025-00001', keycloakUser: '7f3c1a52-3b0e-4a64-9c4e-0d2f8f1b6a11', reason: 'logout' },
  ],
})

/** Renews the tokens of an integration 5 minutes before they end, and asks for the next time. */
export const refreshToken = defineMethod('dartwing_core.integrations.refresh_token', {
  payload: { integration: id },
  result: z.strictObject({ expiresAt: z.iso.datetime(), rotated: z.boolean() }),
  dedupe: { key: ({ integration }) => integration, mode: 'waiting' },
  // Never an order: its delayed successor would hold the key.
  keyLimit: { key: ({ integration }) => integration, concurrency: 1 },
  attributes: ['integration'],
  examples: [{ organization: 'ORG-2025-00001', integration: '1' }],
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
