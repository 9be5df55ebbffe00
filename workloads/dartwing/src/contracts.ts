// Every method. No handler code: a program that only enqueues loads this.
import type { JobContract } from 'millrace'
import { fullExport, generateReport, processBatch, splitImport } from './contracts/bulk.ts'
import { refreshToken, sendFax, sendNotification, syncKeycloakSession } from './contracts/critical.ts'
import { dispatchWebhook, processDelta, sendEmail, updateDocuments } from './contracts/default.ts'
import { cleanUpDeadLetters, detectStuckJobs, ignoreSignal } from './contracts/monitoring.ts'

export const contracts: readonly JobContract[] = [
  sendFax,
  sendNotification,
  syncKeycloakSession,
  refreshToken,
  processDelta,
  dispatchWebhook,
  sendEmail,
  updateDocuments,
  splitImport,
  processBatch,
  generateReport,
  fullExport,
  detectStuckJobs,
  cleanUpDeadLetters,
  ignoreSignal,
]
