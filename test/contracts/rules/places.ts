/** Rules of the servers that have seats, rooms, places in meetings and space on a disk. */
import { defineRules, type CreateRules, isSame, listChanges, sum } from "./rule.ts";

interface Booking {
  readonly what: string;
  readonly status: string;
  readonly traveller: string;
  readonly begins: string;
  readonly ends: string;
  readonly fare?: string;
  readonly seat?: string;
  readonly paid: number;
  readonly insurance?: string;
}

export const travelBooking: CreateRules = ({ read, tryRead }) => {
  const { airports } = read<{ airports: { code: string }[] }>("search_airports");
  /** What is left on the card, once a result has told it, and what was paid since. */
  let card: number | undefined;
  const see = () => {
    const list = read<{ flights: { reference: string }[]; stays: { reference: string }[] }>(
      "list_bookings",
      { limit: 50 },
    );
    const flights = airports.flatMap(
      ({ code }) =>
        tryRead<{ flights: { flight_id: string; seats_left: number }[] }>("search_flights", {
          from: code,
          limit: 50,
        })?.flights ?? [],
    );
    return {
      bookings: new Map(
        [...list.flights, ...list.stays].map(({ reference }) => [
          reference,
          read<Booking>("get_booking", { reference }),
        ]),
      ),
      seats: new Map(flights.map(it => [it.flight_id, it.seats_left])),
    };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const reference: string = value["reference"] ?? args["reference"];
    const [was, is] = [before.bookings.get(reference), after.bookings.get(reference)];
    let paid = 0;
    if (tool === "book_flight" || tool === "book_hotel") {
      paid = value["paid"];
      if (was || !isSame(is?.paid, paid) || paid <= 0) yield `${is?.paid} was paid`;
    } else if (/change_flight|modify_hotel/.test(tool)) {
      paid = value["charged"] - value["given_back"];
      if (value["charged"] > 0 && value["given_back"] > 0) yield "charged and given back";
      if (value["given_back"] > was!.paid) yield `${value["given_back"]} of ${was!.paid}`;
      if (!isSame(is!.paid, was!.paid + paid)) yield `${was!.paid} became ${is!.paid}`;
    } else if (tool === "select_seat") {
      paid = value["fee"];
      if (!isSame(is!.paid, was!.paid + paid)) yield `${was!.paid} became ${is!.paid}`;
      if (is!.seat !== args["seat"]) yield `the seat is ${is!.seat}`;
    } else if (/cancel_/.test(tool)) {
      paid = -value["refund"];
      if (was!.status !== "upcoming" || is!.status !== "cancelled") yield `it is ${is!.status}`;
      if (-paid > was!.paid || paid > 0) yield `${-paid} of ${was!.paid} came back`;
      if (paid === 0 && args["accept_no_refund"] !== true) yield "nothing came back";
    } else if (tool === "purchase_insurance") {
      paid = value["price"];
      if (was!.insurance !== undefined || is!.insurance === undefined || paid <= 0)
        yield `it was insured: ${was!.insurance}`;
    }
    if (card !== undefined) card = sum([card, -paid]);
    const left = value["card_left"] as number | undefined;
    if (left !== undefined && card !== undefined && !isSame(left, card))
      yield `${left} is left on the card, not ${card}`;
    card = left ?? card;
    if (card !== undefined && card < 0) yield `${card} is left on the card`;

    const seats = new Map<string, number>();
    const move = (id: string | undefined, change: number) =>
      id !== undefined && seats.set(id, (seats.get(id) ?? 0) + change);
    if (tool === "book_flight") move(args["flight_id"], -1);
    if (tool === "change_flight") move(args["flight_id"], -1);
    for (const [id, now] of after.seats) {
      const then = before.seats.get(id);
      // flights that close are not found any more
      if (then === undefined) continue;
      const isFreed = /change_flight|cancel_flight/.test(tool) && now === then + 1;
      if (now < 0 || (now !== then + (seats.get(id) ?? 0) && !isFreed))
        yield `${id} had ${then} seats left, and has ${now}`;
      if (!seats.has(id)) continue;
      const map = read<{ free: number; seats: { seat: string }[] }>("get_seat_map", {
        flight_id: id,
      });
      if (map.free !== now || map.seats.some(it => it.seat === value["seat"]))
        yield `${id} shows ${map.free} of ${now} free seats`;
    }
    const freed = [...after.seats].filter(([id, it]) => it > (before.seats.get(id) ?? it));
    if (freed.length > 1) yield `seats of ${freed.length} flights came free`;
    for (const [id, then, now] of listChanges(before.bookings, after.bookings)) {
      if (!now) yield `${id} is gone`;
      else if (id !== reference && now.status === then?.status) yield `${id} changed`;
      else if (then && then.status !== "upcoming") yield `${id} was ${then.status} and changed`;
    }
  });
};

interface Meeting {
  readonly topic: string;
  readonly start: string;
  readonly end: string;
  readonly status: string;
  readonly user_is: string;
  readonly participants?: readonly { readonly name: string; readonly role: string }[];
  readonly places_left: number;
  readonly recording: string;
  readonly recording_now: boolean;
}

export const videoMeeting: CreateRules = ({ read }) => {
  const see = () => {
    const meetings = ["scheduled", "running", "ended", "cancelled"].flatMap(
      status =>
        read<{ meetings: { meeting_id: string }[] }>("list_meetings", { status, limit: 50 })
          .meetings,
    );
    return new Map(
      meetings.map(({ meeting_id }) => [meeting_id, read<Meeting>("get_meeting", { meeting_id })]),
    );
  };
  const next: Readonly<Record<string, readonly string[]>> = {
    scheduled: ["scheduled", "running", "cancelled"],
    running: ["running", "ended"],
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const meetingId: string = args["meeting_id"] ?? value["meeting_id"];
    for (const [id, was, is] of listChanges(before, after)) {
      if (!is) yield `${id} is gone`;
      else if (is.places_left < 0) yield `${id} has ${is.places_left} places left`;
      else if (is.recording_now && is.status !== "running") yield `${id} records, ${is.status}`;
      else if (id !== meetingId) {
        // a running meeting ends at its time
        if (was && is.status !== "ended") yield `${id} changed`;
      } else if (was) {
        if (!next[was.status]?.includes(is.status)) yield `${id} was ${was.status}: ${is.status}`;
        const [then, now] = [was, is].map(it => it.participants?.length ?? 0) as [number, number];
        if (was.status === is.status && now - then !== was.places_left - is.places_left)
          yield `${id} has ${now} participants and ${is.places_left} places left`;
        if (now !== then && tool !== "add_participant") yield `${id} has ${now} participants`;
        if (new Set(is.participants?.map(it => it.name)).size < now) yield "somebody comes twice";
        if (/cancel|update|end_/.test(tool) && was.user_is !== "host")
          yield `the user is ${was.user_is}`;
        if (tool === "start_recording") {
          if (was.recording_now || !is.recording_now) yield "it is not recorded once";
          const mayRecord = was.user_is === "host" || was.recording === "co-hosts";
          if (!mayRecord || was.user_is === "guest") yield `the user is ${was.user_is}`;
        }
      }
    }
    if (tool === "schedule_meeting") {
      const meeting = after.get(meetingId)!;
      const minutes = (Date.parse(meeting.end) - Date.parse(meeting.start)) / 60_000;
      if (minutes !== args["minutes"]) yield `it takes ${minutes} minutes`;
      if (meeting.user_is !== "host") yield `the user is ${meeting.user_is}`;
    }
    const { recordings } = read<{ recordings: { recording_id: string; status: string }[] }>(
      "list_recordings",
      { limit: 50 },
    );
    const recorded = [...after.values()].filter(it => it.recording_now).length;
    if (recordings.filter(it => it.status === "recording").length !== recorded)
      yield `${recorded} meetings are recorded`;
  });
};

export const filesystem: CreateRules = ({ read }) => {
  const see = () => read<{ size: number; used: number; free: number; trash: number }>("df");
  return defineRules(see, function* (before, after, { tool, args }) {
    const { size, used, free, trash } = after;
    if (size !== before.size || used + free !== size || trash > used)
      yield `${used} used and ${free} free of ${size}, ${trash} in the trash`;
    if (used > size && used > before.used) yield `${used} of ${size} is used`;
    const isForGood = args["permanent"] === true;
    if (tool === "rm" && !isForGood && (used !== before.used || trash < before.trash))
      yield `${before.used} used became ${used}, and ${before.trash} in the trash ${trash}`;
    if (tool === "rm" && isForGood && (used > before.used || trash !== before.trash))
      yield `${before.used} used became ${used}`;
    if (/^(restore_trash|chmod|chown|mkdir|ln)$/.test(tool) && trash > before.trash)
      yield `${trash} in the trash`;
  });
};
