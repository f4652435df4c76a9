//! One connection of smoltcp over a line, its queue and its losses, by a clock of our own.
//!
//! Arguments, in order: Mbit/s; one-way delay in us; packets that may wait; MTU; bytes of each buffer; delay of an
//! acknowledgement in us, 0 for one of each segment; bytes to send, 0 for no end; the first packet of the client that is
//! lost, and after how many others each further one (0: none); ms of the trial; ms of the interval by which is counted.
//!
//! Prints one line of JSON: by interval the bytes that the reader has got and the segments that have arrived, and when
//! all that was to be sent was acknowledged, in us; 0 if it was not.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

/// Preamble, header, check sequence and gap of Ethernet.
const FRAMING_BYTES: u64 = 38;
const HEADER_BYTES: usize = 40;

/// A line with its queue, which loses packets by their number; times are in ns.
struct Line {
    bit_ps: u64,
    delay_ns: u64,
    room: usize,
    first_lost: u64,
    every: u64,
    count: u64,
    free_ns: u64,
    begins_ns: VecDeque<u64>,
    under_way: VecDeque<(u64, Vec<u8>)>,
}

impl Line {
    fn is_lost(&mut self) -> bool {
        self.count += 1;
        if self.first_lost == 0 || self.count < self.first_lost {
            return false;
        }
        let after = self.count - self.first_lost;
        after == 0 || (self.every > 0 && after % self.every == 0)
    }

    fn send(&mut self, now_ns: u64, packet: Vec<u8>) {
        while self.begins_ns.front().is_some_and(|begins| *begins <= now_ns) {
            self.begins_ns.pop_front();
        }
        if self.is_lost() || (self.free_ns > now_ns && self.begins_ns.len() >= self.room) {
            return;
        }
        let begins_ns = self.free_ns.max(now_ns);
        if begins_ns > now_ns {
            self.begins_ns.push_back(begins_ns);
        }
        let bits = 8 * (packet.len() as u64 + FRAMING_BYTES);
        self.free_ns = begins_ns + bits * self.bit_ps / 1000;
        self.under_way.push_back((self.free_ns + self.delay_ns, packet));
    }
}

/// A network interface: what has arrived, and what is to be sent.
struct Port {
    mtu: usize,
    arrived: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);
struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Port {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Sent<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Sent(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut found = DeviceCapabilities::default();
        found.medium = Medium::Ip;
        found.max_transmission_unit = self.mtu;
        found.checksum = ChecksumCapabilities::ignored();
        found
    }
}

struct End {
    port: Port,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

impl End {
    fn new(address: IpAddress, mtu: usize, buffer: usize, ack_delay_us: u64) -> End {
        let mut port = Port { mtu, arrived: VecDeque::new(), sent: VecDeque::new() };
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut port, Instant::ZERO);
        interface.update_ip_addrs(|known| known.push(IpCidr::new(address, 24)).unwrap());
        let room = || SocketBuffer::new(vec![0; buffer]);
        let mut socket = Socket::new(room(), room());
        socket.set_congestion_control(CongestionControl::Reno);
        socket.set_nagle_enabled(false);
        let delay = (ack_delay_us > 0).then(|| Duration::from_micros(ack_delay_us));
        socket.set_ack_delay(delay);
        let mut sockets = SocketSet::new(vec![]);
        let handle = sockets.add(socket);
        End { port, interface, sockets, handle }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: Instant) {
        self.interface.poll(now, &mut self.port, &mut self.sockets);
    }
}

fn main() {
    let given: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let [mbit, delay_us, room, mtu, buffer, ack_delay_us, to_send, first_lost, every, stop_ms, interval_ms] =
        given[..]
    else {
        panic!("eleven numbers, as in the comment above");
    };
    let line = |room, first_lost, every| Line {
        bit_ps: 1_000_000 / mbit,
        delay_ns: 1_000 * delay_us,
        room,
        first_lost,
        every,
        count: 0,
        free_ns: 0,
        begins_ns: VecDeque::new(),
        under_way: VecDeque::new(),
    };
    let mut lines = [line(room as usize, first_lost, every), line(usize::MAX, 0, 0)];
    let addresses = [IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2)];
    let mut ends = addresses.map(|address| End::new(address, mtu as usize, buffer as usize, ack_delay_us));
    ends[1].socket().listen(80).unwrap();
    let client = &mut ends[0];
    let socket = client.sockets.get_mut::<Socket>(client.handle);
    socket.connect(client.interface.context(), (addresses[1], 80), 49152).unwrap();

    let intervals = (stop_ms / interval_ms) as usize + 1;
    let (mut read, mut arrived) = (vec![0u64; intervals], vec![0u64; intervals]);
    let mut acknowledged_us = 0u64;
    let (mut now_us, mut rest) = (0u64, if to_send > 0 { to_send } else { u64::MAX });
    while now_us < 1_000 * stop_ms {
        let now = Instant::from_micros(now_us as i64);
        let interval = (now_us / 1_000 / interval_ms) as usize;
        for (number, end) in ends.iter_mut().enumerate() {
            let coming = &mut lines[1 - number].under_way;
            while coming.front().is_some_and(|packet| packet.0 <= 1_000 * now_us) {
                let packet = coming.pop_front().unwrap().1;
                arrived[interval] += (number == 1 && packet.len() > HEADER_BYTES + 40) as u64;
                end.port.arrived.push_back(packet);
                // One at a time, as from a wire: else one acknowledgement answers several.
                end.poll(now);
            }
            if number == 0 && end.socket().may_send() {
                while rest > 0 && end.socket().can_send() {
                    let most = rest.min(1 << 16) as usize;
                    let written = end.socket().send_slice(&vec![0; most]).unwrap();
                    rest -= written as u64;
                }
            }
            end.poll(now);
            if number == 0 && rest == 0 && acknowledged_us == 0 && end.socket().send_queue() == 0 {
                acknowledged_us = now_us;
            }
            while end.socket().can_recv() {
                read[interval] += end.socket().recv(|data| (data.len(), data.len())).unwrap() as u64;
                end.poll(now);
            }
            while let Some(packet) = end.port.sent.pop_front() {
                lines[number].send(1_000 * now_us, packet);
            }
        }
        let mut next_us = u64::MAX;
        for (number, end) in ends.iter_mut().enumerate() {
            if let Some(at) = end.interface.poll_at(now, &end.sockets) {
                next_us = next_us.min((at.total_micros() as u64).max(now_us + 1));
            }
            if let Some(packet) = lines[number].under_way.front() {
                next_us = next_us.min(packet.0.div_ceil(1_000).max(now_us + 1));
            }
        }
        now_us = next_us;
    }
    println!("{{\"read\": {read:?}, \"arrived\": {arrived:?}, \"acknowledged_us\": {acknowledged_us}}}");
}
