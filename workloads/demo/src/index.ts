import { orderDesk } from './order-desk.ts'

export { orderDesk }
export default orderDesk()
