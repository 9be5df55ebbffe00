import { type OrderDeskOptions, orderDesk } from './order-desk.ts'

export { type OrderDeskOptions, orderDesk }
export default orderDesk()
