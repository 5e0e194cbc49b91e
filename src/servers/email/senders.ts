/** Companies that send mail to the user. */

/** Companies that send mail: name, address, and whether nobody reads mail to it. */
export const senders: Readonly<
  Record<string, { readonly name: string; readonly email: string; readonly isNoReply: boolean }>
> = {
  airline: { name: "Skyline Airways", email: "no-reply@skyline.example", isNoReply: true },
  rail: { name: "Railway Booking", email: "tickets@railway.example", isNoReply: true },
  cloud: { name: "Cloudbox", email: "no-reply@cloudbox.example", isNoReply: true },
  fonts: { name: "Typeworks Foundry", email: "hello@typeworks.example", isNoReply: false },
  paper: { name: "Papermill Weekly", email: "news@papermill.example", isNoReply: true },
  fair: { name: "Design Fair Office", email: "office@designfair.example", isNoReply: false },
  prize: { name: "Lucky Prize Centre", email: "winner@luckyprize.example", isNoReply: false },
  loans: { name: "Quick Loan Desk", email: "offers@quickloan.example", isNoReply: false },
  postmaster: { name: "Mail Delivery", email: "postmaster@mail.example", isNoReply: true },
};
