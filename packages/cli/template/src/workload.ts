// What `millrace dev` and `millrace work` run.
import type { Workload } from '@millrace/cli/workload'
import { defineSchedule, every } from 'millrace'
import { greet } from './contracts.js'
import { greeter } from './handlers.js'

const greetEveryMinute = defineSchedule({
  name: 'greet-every-minute',
  job: greet,
  when: every('1m'),
  payload: { name: 'everybody' },
})

export default {
  name: '__NAME__',
  jobs: [greet],
  handlers: [greeter],
  schedules: [greetEveryMinute],
} satisfies Workload
