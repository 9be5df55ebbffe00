// What LIPAS measures itself.
import { type DefinedMetric, defineCounter } from '@millrace/telemetry'

export const cellsCounted = defineCounter('lipas_diversity_cells_total', {
  help: 'Squares whose diversity was computed.',
})
export const elevationRequests = defineCounter('lipas_elevation_requests_total', {
  help: 'Requests to the elevation service, by result: ok, failed or no_data.',
  labels: ['result'],
})
export const objectsCounted = defineCounter('lipas_webhook_objects_total', {
  help: 'Objects that the partner was told of, by kind: sports-site or loi.',
  labels: ['kind'],
})
export const mailsCounted = defineCounter('lipas_emails_total', {
  help: 'Mails by kind and outcome: sent, refused or failed.',
  labels: ['kind', 'outcome'],
})

export const lipasMetrics: DefinedMetric[] = [cellsCounted, elevationRequests, objectsCounted, mailsCounted]
